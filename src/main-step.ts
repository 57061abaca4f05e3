import { performStep } from './action/step.ts'
import type { World } from './action/world.ts'
import { eventLoopTurn, systemClock } from './clock.ts'
import { type CommentOptions, keepCommentUpToDate } from './github/comment.ts'
import { nameOfCommit, readEvent } from './github/event.ts'
import { attemptUrl, readJob } from './github/job.ts'
import { runnerOutput } from './github/outputs.ts'
import { defaultReportFolder, writeReportFiles } from './github/report-files.ts'
import { RecordNotWritten, type StepRecorder } from './handover/recorder.ts'
import { readBaseline } from './inputs/baseline.ts'
import { InvalidInputsError } from './inputs/input-reader.ts'
import { readInputs, wantsSummaryOfProblems } from './inputs/inputs.ts'
import type { StepSubject } from './model/outcome.ts'
import { commentBody } from './report/comment-body.ts'
import { invalidInputsSummary } from './report/job-summary.ts'
import { openService } from './service/client.ts'
import { fragment } from './text/safe-text.ts'

/** Reads the inputs, creates the effects and performs the step. Returns whether it succeeded. Throws only if there is a bug. */
export async function performMain(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  recorder: StepRecorder,
  hasJobEnded: () => boolean,
): Promise<boolean> {
  const output = runnerOutput(env, hasJobEnded)
  recorder.attachLog(output.log)
  try {
    const job = readJob(env)
    if (job !== undefined) output.setOutput('job-url', job.url)
    const event = readEvent(env)
    const inputs = readInputs(env, event)
    for (const warning of inputs.warnings) output.log.warning(warning)
    if (inputs.branchInfo !== undefined) output.log.info(inputs.branchInfo)
    const commitName = nameOfCommit(event, inputs.subject.parameters.branch)
    const { log } = output
    const { target } = inputs.subject
    const service = await openService(inputs.service, systemClock, {
      workflowRunUrl: attemptUrl(env),
      debug: log.debug,
    })
    const { baselinePath: path } = inputs
    const baseline = path === undefined ? undefined : readBaseline(path, target.kind, service.redact, log)
    const subject: StepSubject = { ...inputs.subject, commitName, job, baseline }
    const world: World = {
      ...output,
      clock: systemClock,
      random: Math.random,
      signal,
      recorder,
      service,
      writeReportFiles: (files, runId) =>
        writeReportFiles(files, inputs.reportDir ?? defaultReportFolder(env, runId), env, log),
      writeComment: (outcome, hasSummary) => {
        const { comment: settings, githubToken: token } = inputs
        const body: CommentOptions['body'] = (marker, pullRequestBranch) =>
          commentBody(outcome, { marker, pullRequestBranch, hasSummary })
        const { success } = outcome
        return keepCommentUpToDate({ env, event, settings, token, success, body, log, clock: systemClock, signal })
      },
    }
    // If a signal came while the action was loading, its handler runs now. Then nothing is started.
    await eventLoopTurn()
    const { success } = await performStep({ ...inputs.settings, subject }, world)
    return success
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
