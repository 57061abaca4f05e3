import { runAction } from './action/run-action.ts'
import type { Log, World } from './action/world.ts'
import { eventLoopTurn, systemClock } from './clock.ts'
import { jobUrl, readEvent } from './github/event.ts'
import { type CommentSettings, type Inputs, InvalidInputsError, readInputs } from './github/inputs.ts'
import { type RunnerOutput, runnerOutput } from './github/outputs.ts'
import { readProxies } from './github/proxies.ts'
import { defaultReportFolder, writeReportFiles } from './github/report-files.ts'
import { runnerState, StateNotSaved } from './github/state.ts'
import type { StepResult } from './outcome/step-result.ts'
import { type CommentOptions, commentBody } from './report/comment-body.ts'
import { logLine, render } from './report/safe-text.ts'
import { wrongInputsSummary } from './report/wrong-inputs.ts'
import { openService } from './service/open-service.ts'
import { setV8Flags } from './v8-flags.ts'

/** The step of main: builds the real world and runs the tests in it. Tells whether the step succeeds. */
export async function runStep(env: NodeJS.ProcessEnv, abort: AbortSignal): Promise<boolean> {
  const output = runnerOutput(env)
  try {
    const inputs = readInputs(env, readEvent(env))
    const world = await realWorld(inputs, env, abort, output)
    for (const name of inputs.ignored) {
      output.log.warning(logLine`Input ${name} has no effect with run-id: the run was started without this step.`)
    }
    // Lets in a signal that came while all this was loaded: nothing need be started then.
    await eventLoopTurn()
    const running = runAction(inputs.request, world)
    setV8Flags()
    return (await running).success
  } catch (error) {
    output.setOutput('conclusion', 'error')
    if (error instanceof InvalidInputsError) return tellWrongInputs(error, env, output)
    if (error instanceof StateNotSaved) return tellNothingStarted(error, output)
    throw error
  }
}

function tellWrongInputs({ sentences }: InvalidInputsError, env: NodeJS.ProcessEnv, output: RunnerOutput): false {
  for (const message of sentences) output.annotate({ level: 'error', title: 'Wrong input', message })
  if (env.INPUT_SUMMARY !== 'never') output.writeSummary(() => wrongInputsSummary(sentences))
  return false
}

function tellNothingStarted({ message: reason }: StateNotSaved, output: RunnerOutput): false {
  const message = logLine`The runner's files cannot be written, so no run was started: if this step were killed, nothing would cancel it. Free some space on the runner, or look at its temporary folder. ${reason}`
  output.annotate({ level: 'error', title: 'Run not started', message })
  return false
}

async function realWorld(
  inputs: Inputs,
  env: NodeJS.ProcessEnv,
  abort: AbortSignal,
  output: RunnerOutput,
): Promise<World> {
  const { baseUrl, request, reportDir } = inputs
  const { target, reports } = request
  const address = { baseUrl, apiKey: reports.apiKey, target, proxies: readProxies(env) }
  return {
    ...output,
    clock: systemClock,
    random: Math.random,
    abort,
    state: runnerState(output.attempt),
    service: await openService(address, systemClock),
    writeReportFiles: (files, runId) =>
      writeReportFiles(files, reportDir ?? defaultReportFolder(env, runId), env, output.log),
    comment: (result, options) => comment(result, options, inputs.comment, env, abort, output.log),
  }
}

/** The comment on the pull request, loaded only where one is wanted: GitHub's client is half of what there is to load. */
async function comment(
  result: StepResult,
  options: Pick<CommentOptions, 'redact' | 'hasSummary'>,
  { when, key, matrix, token }: CommentSettings,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  log: Log,
): Promise<string | undefined> {
  if (when === 'never') return undefined
  const { keepCommentUpToDate } = await import('./github/pull-request-comment.ts')
  const { commentRemark, commentWarning } = await import('./github/comment-warning.ts')
  const url = jobUrl(env)
  const job = url === undefined ? {} : { job: { url, name: env.GITHUB_JOB ?? '' } }
  const outcome = await keepCommentUpToDate({
    when,
    success: result.verdict.success,
    body: (marker) => render(commentBody(result, { ...options, marker, matrix, key, ...job })),
    token,
    key,
    matrix,
    env,
    signal,
    clock: systemClock,
    random: Math.random,
  })
  const warning = commentWarning(outcome)
  if (warning !== undefined) log.warning(warning)
  const remark = commentRemark(outcome)
  if (remark !== undefined) log.info(remark)
  return 'url' in outcome ? outcome.url : undefined
}
