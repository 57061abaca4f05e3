import { runAction } from './action/run-action.ts'
import type { World } from './action/world.ts'
import { eventLoopTurn, systemClock } from './clock.ts'
import { nameOfCommit, readEvent } from './github/event.ts'
import type { GitHubAccess } from './github/github-api.ts'
import { attemptUrl, readJob } from './github/job.ts'
import { RecordNotWritten, type StepRecorder } from './handover/recorder.ts'
import { branchToTest } from './inputs/branch.ts'
import { InvalidInputsError } from './inputs/input-reader.ts'
import { type CommentSettings, readInputs, wantsSummaryOfProblems } from './inputs/inputs.ts'
import type { StepOutcome, StepSubject } from './outcome/step-outcome.ts'
import { preventSecondParserCompilation } from './process.ts'
import { type CommentBodyOptions, commentBody } from './report/comment-body.ts'
import { invalidInputsSummary } from './report/job-summary.ts'
import { runnerOutput } from './runner/outputs.ts'
import { defaultReportFolder, writeReportFiles } from './runner/report-files.ts'
import { openService } from './service/open-service.ts'
import { fragment, render } from './text/safe-text.ts'

/** Runs the step, and returns whether it succeeded. Throws only if there is a bug. */
export async function runStep(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  recorder: StepRecorder,
  isJobOver: () => boolean,
): Promise<boolean> {
  const output = runnerOutput(env, isJobOver)
  recorder.attachLog(output.log)
  try {
    const job = readJob(env)
    if (job !== undefined) output.setOutput('job-url', job.url)
    const event = readEvent(env)
    const inputs = readInputs(env, event)
    for (const warning of inputs.warnings) output.log.warning(warning)
    const gitHub = { env, event, token: inputs.githubToken, clock: systemClock, signal }
    const branch = await branchToTest(inputs.branch, gitHub)
    output.log.debug?.(fragment`Branch: ${branch.name ?? 'none is sent'}, because ${branch.because}`)
    if (branch.info !== undefined) output.log.info(branch.info)
    if (branch.warning !== undefined) output.log.warning(branch.warning)
    const subject: StepSubject = {
      ...inputs.subject,
      parameters: { ...inputs.subject.parameters, branch: branch.name },
      untested: branch.untested,
      commitName: nameOfCommit(event, branch.name),
      job,
    }
    const debug = output.log.debug
    const world: World = {
      ...output,
      clock: systemClock,
      random: Math.random,
      signal,
      recorder,
      service: await openService(inputs.service, systemClock, { workflowRunUrl: attemptUrl(env), debug }),
      writeReportFiles: (files, runId) =>
        writeReportFiles(files, inputs.reportDir ?? defaultReportFolder(env, runId), env, output.log),
      writeComment: (outcome, options) => writeComment(outcome, options, inputs.comment, gitHub, output.log),
    }
    // If a signal came while the action was loading, its handler runs now. Then nothing is started.
    await eventLoopTurn()
    const running = runAction({ ...inputs.settings, subject }, world)
    // When `runAction` returns its promise, it has dispatched the first request, if it sends one.
    preventSecondParserCompilation()
    return (await running).success
  } catch (error) {
    output.setOutput('conclusion', 'error')
    if (error instanceof InvalidInputsError) {
      for (const message of error.messages) output.annotate({ level: 'error', title: 'Invalid input', message })
      if (wantsSummaryOfProblems(env)) output.writeSummary(() => invalidInputsSummary(error.messages))
    } else if (error instanceof RecordNotWritten) {
      // No summary is written here, because the disk is probably full.
      const message = fragment`No run was started, because the step could not write its file for the post step: ${error.message}. Without this file, nothing would cancel the run if the step were killed. Free some space on the runner, or check its temporary folder.`
      output.annotate({ level: 'error', title: 'Run not started', message })
    } else throw error
    return false
  }
}

async function writeComment(
  outcome: StepOutcome,
  options: Pick<CommentBodyOptions, 'hasSummary'>,
  settings: CommentSettings,
  gitHub: GitHubAccess,
  log: World['log'],
): Promise<string | undefined> {
  if (settings.when === 'never') return undefined
  // Loaded only if the user wants a comment, because GitHub's client is half of the code.
  const { keepCommentUpToDate } = await import('./github/pull-request-comment.ts')
  const body = (parts: Omit<CommentBodyOptions, 'hasSummary'>) => render(commentBody(outcome, { ...parts, ...options }))
  return keepCommentUpToDate({ ...gitHub, settings, success: outcome.success, body, log })
}
