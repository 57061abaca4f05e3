import { isReadByRunner } from './action/abort.ts'
import { performStep } from './action/step.ts'
import type { World } from './action/world.ts'
import { systemClock as clock, pendingEvents } from './clock.ts'
import { programText } from './files/program-text.ts'
import { defaultReportFolder, writeReportFiles } from './files/report-files.ts'
import { keepCommentUpToDate } from './github/comment.ts'
import { readEvent } from './github/event.ts'
import { attemptUrl, readJob } from './github/job.ts'
import { runnerOutput } from './github/outputs.ts'
import { MainFileNotWritten, type MainFileWriter } from './handover/main-file-writer.ts'
import { readBaseline } from './inputs/baseline.ts'
import { InvalidInputsError } from './inputs/input-reader.ts'
import { readInputs, wantsSummaryOfProblems } from './inputs/inputs.ts'
import { problemsSummary } from './report/job-summary.ts'
import { openService } from './service/client.ts'
import { fragment } from './text/safe-text.ts'

/** Reads the inputs, creates the effects and performs the step. Returns whether it succeeded. Throws only if there is a bug. */
export async function runMain(env: NodeJS.ProcessEnv, signal: AbortSignal, mainFile: MainFileWriter): Promise<boolean> {
  const beganMs = clock.now()
  const output = runnerOutput(env, () => isReadByRunner(signal))
  const { log } = output
  mainFile.attachLog(log)
  try {
    const job = readJob(env)
    if (job !== undefined) output.setOutput('job-url', job.url)
    const event = readEvent(env)
    const inputs = readInputs(env, event, job)
    const { settings, subject, comment, reportDir, baselinePath } = inputs
    const service = await openService(inputs.address, clock, { workflowRunUrl: attemptUrl(env), debug: log.debug })
    const baseline =
      baselinePath === undefined ? undefined : readBaseline(baselinePath, subject.target.kind, service.redact, log)
    const { setOutput, annotate, mask, writeSummary } = output
    const world: World = {
      clock,
      random: Math.random,
      signal,
      service,
      log,
      mainFile,
      setOutput,
      annotate,
      mask,
      programText,
      writeSummary,
      writeReportFiles: (files, runId) => writeReportFiles(files, reportDir ?? defaultReportFolder(env, runId), log),
      writeComment: (build, success) =>
        keepCommentUpToDate({ env, event, settings: comment, success, build, log, clock, signal }),
    }
    // If a system signal came while the action was loading, the step is aborted now, and starts nothing.
    await pendingEvents()
    const { success } = await performStep({ ...settings, subject: { ...subject, baseline } }, world, beganMs)
    return success
  } catch (error) {
    const summarize = (...problems: Parameters<typeof problemsSummary>) => {
      if (wantsSummaryOfProblems(env)) output.writeSummary(() => problemsSummary(...problems))
    }
    output.setOutput('conclusion', 'error')
    if (error instanceof InvalidInputsError) {
      for (const message of error.messages) output.annotate({ level: 'error', title: 'Invalid input', message })
      summarize(fragment`Invalid inputs`, error.messages)
    } else if (error instanceof MainFileNotWritten) {
      const message = fragment`No run was started, because the step could not write its file for the post step: ${error.message}. Without this file, nothing would cancel the run if the step were killed. Free some space on the runner, or check its temporary folder.`
      output.annotate({ level: 'error', title: 'Run not started', message })
      summarize(fragment`Run not started`, [message])
    } else {
      // After a bug, main's file stays, so that post cancels the run.
      throw error
    }
    mainFile.done()
    return false
  }
}
