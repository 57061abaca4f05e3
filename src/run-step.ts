import { runAction } from './action/run-action.ts'
import type { Log, World } from './action/world.ts'
import { eventLoopTurn, systemClock } from './clock.ts'
import { type EventPayload, jobUrl, readEvent } from './github/event.ts'
import { type CommentSettings, type Inputs, InvalidInputsError, readInputs } from './github/inputs.ts'
import { type RunnerOutput, runnerOutput } from './github/outputs.ts'
import { readProxies } from './github/proxies.ts'
import { defaultReportFolder, writeReportFiles } from './github/report-files.ts'
import { runnerState, StateNotSaved } from './github/state.ts'
import type { StepOutcome } from './outcome/step-outcome.ts'
import { commentBody } from './report/comment-body.ts'
import { invalidInputsSummary } from './report/job-summary.ts'
import { logLine, render } from './report/safe-text.ts'
import { openService } from './service/open-service.ts'
import { setV8Flags } from './v8-flags.ts'

/** The step of main: builds the real world and runs the action in it. Returns whether the step succeeds. */
export async function runStep(env: NodeJS.ProcessEnv, abort: AbortSignal): Promise<boolean> {
  const output = runnerOutput(env)
  try {
    const url = jobUrl(env)
    if (url !== undefined) output.setOutput('job-url', url)
    const event = readEvent(env)
    const inputs = readInputs(env, event)
    const world = await realWorld(inputs, event, env, abort, output)
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
    if (error instanceof InvalidInputsError) return reportInvalidInputs(error, env, output)
    if (error instanceof StateNotSaved) return reportNothingStarted(error, output)
    throw error
  }
}

function reportInvalidInputs({ messages }: InvalidInputsError, env: NodeJS.ProcessEnv, output: RunnerOutput): false {
  for (const message of messages) output.annotate({ level: 'error', title: 'Invalid input', message })
  if (env.INPUT_SUMMARY !== 'never') output.writeSummary(() => invalidInputsSummary(messages))
  return false
}

function reportNothingStarted({ message: reason }: StateNotSaved, output: RunnerOutput): false {
  const message = logLine`Cannot write the runner's command files, so no run was started: if this step were killed, nothing would cancel it. Free some space on the runner, or check its temporary folder. ${reason}`
  output.annotate({ level: 'error', title: 'Run not started', message })
  return false
}

async function realWorld(
  inputs: Inputs,
  event: EventPayload,
  env: NodeJS.ProcessEnv,
  abort: AbortSignal,
  output: RunnerOutput,
): Promise<World> {
  const { baseUrl, apiKey, request, reportDir } = inputs
  const isCheckDisabled = env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
  const address = { baseUrl, apiKey, target: request.target, proxies: readProxies(env), isCheckDisabled }
  return {
    ...output,
    clock: systemClock,
    random: Math.random,
    abort,
    state: runnerState(output.attempt),
    service: await openService(address, systemClock),
    writeReportFiles: (files, runId) =>
      writeReportFiles(files, reportDir ?? defaultReportFolder(env, runId), env, output.log),
    comment: (outcome, options) => comment(outcome, options, inputs.comment, event, env, abort, output.log),
  }
}

/** The comment on the pull request, loaded only if one is wanted: GitHub's client is half of what there is to load. */
async function comment(
  outcome: StepOutcome,
  { hasSummary }: { readonly hasSummary: boolean },
  { when, key, matrix, token }: CommentSettings,
  _event: EventPayload,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  log: Log,
): Promise<string | undefined> {
  if (when === 'never') return undefined
  const { keepCommentUpToDate } = await import('./github/pull-request-comment.ts')
  const { commentRemark, commentWarning } = await import('./github/comment-warning.ts')
  const result = await keepCommentUpToDate({
    when,
    success: outcome.success,
    body: (marker) => render(commentBody(outcome, { marker, hasSummary })),
    token,
    key,
    matrix,
    env,
    signal,
    clock: systemClock,
    random: Math.random,
  })
  const warning = commentWarning(result)
  if (warning !== undefined) log.warning(warning)
  const remark = commentRemark(result)
  if (remark !== undefined) log.info(remark)
  return 'url' in result ? result.url : undefined
}
