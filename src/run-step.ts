import { runAction } from './action/run-action.ts'
import type { Recorder, World } from './action/world.ts'
import { eventLoopTurn, systemClock } from './clock.ts'
import { nameOfCommit, readEvent } from './github/event.ts'
import type { GitHubAccess } from './github/github-api.ts'
import { attemptUrl, readJob } from './github/job.ts'
import type { RecordWriter } from './handover/record.ts'
import { createRecorder, RecordNotWritten } from './handover/recorder.ts'
import { branchToTest } from './inputs/branch.ts'
import { InvalidInputsError } from './inputs/input-reader.ts'
import { type Inputs, readInputs, wantsSummaryOfProblems } from './inputs/inputs.ts'
import { keepParserAsCompiled } from './process.ts'
import { commentBody } from './report/comment-body.ts'
import { invalidInputsSummary } from './report/job-summary.ts'
import { type RunnerOutput, runnerOutput } from './runner/outputs.ts'
import { defaultReportFolder, writeReportFiles } from './runner/report-files.ts'
import { openService } from './service/open-service.ts'
import { logLine, render } from './text/safe-text.ts'

export async function runStep(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  record: RecordWriter,
  isJobOver: () => boolean,
): Promise<boolean> {
  const output = runnerOutput(env, isJobOver)
  const recorder = createRecorder(record, output.log)
  try {
    const job = readJob(env)
    if (job !== undefined) output.setOutput('job-url', job.url)
    const event = readEvent(env)
    const inputs = readInputs(env, event)
    for (const warning of inputs.warnings) output.log.warning(warning)
    const gitHub = { env, event, token: inputs.githubToken, clock: systemClock, signal }
    const world = await realWorld(inputs, gitHub, recorder, output)
    const { send: branch, because, untested, info, warning } = await branchToTest(inputs.branch, gitHub)
    output.log.debug?.(logLine`Branch: ${branch ?? 'none is sent'}, because ${because}`)
    if (info !== undefined) output.log.info(info)
    if (warning !== undefined) output.log.warning(warning)
    const parameters = { ...inputs.request.parameters, branch }
    // If a signal came while the action was loading, it is handled here, and nothing is started.
    await eventLoopTurn()
    const commitName = nameOfCommit(event, branch)
    const running = runAction({ ...inputs.request, parameters, untested, commitName, job }, world)
    keepParserAsCompiled()
    return (await running).success
  } catch (error) {
    output.setOutput('conclusion', 'error')
    if (error instanceof InvalidInputsError) {
      recorder.done()
      for (const message of error.messages) output.annotate({ level: 'error', title: 'Invalid input', message })
      if (wantsSummaryOfProblems(env)) output.writeSummary(() => invalidInputsSummary(error.messages))
    } else if (error instanceof RecordNotWritten) {
      const message = logLine`No run was started, because the step could not save its record for the post step: ${error.message}. Without this record, nothing would cancel a run of a killed step. Free some space on the runner, or check its temporary folder.`
      output.annotate({ level: 'error', title: 'Run not started', message })
    } else throw error
    return false
  }
}

async function realWorld(
  inputs: Inputs,
  gitHub: GitHubAccess,
  recorder: Recorder,
  output: RunnerOutput,
): Promise<World> {
  const { reportDir, comment } = inputs
  const { env, clock, signal } = gitHub
  return {
    ...output,
    clock,
    random: Math.random,
    signal,
    recorder,
    service: await openService(inputs.service, clock, { workflowRunUrl: attemptUrl(env), debug: output.log.debug }),
    writeReportFiles: (files, runId) =>
      writeReportFiles(files, reportDir ?? defaultReportFolder(env, runId), env, output.log),
    comment: async (outcome, { hasSummary }) => {
      if (comment.when === 'never') return undefined
      // Loaded only if the user wants a comment, because GitHub's client is half of the code.
      const { keepCommentUpToDate } = await import('./github/pull-request-comment.ts')
      return keepCommentUpToDate({
        ...gitHub,
        settings: comment,
        success: outcome.success,
        body: (parts) => render(commentBody(outcome, { ...parts, hasSummary })),
        log: output.log,
      })
    },
  }
}
