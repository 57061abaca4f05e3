import type { Clock } from '../clock.ts'
import type { Conclusion, StepOutcome } from '../model/outcome.ts'
import type { Annotation, LogGroup } from '../report/annotations.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Fragment, Html } from '../text/safe-text.ts'

export interface Log {
  info(message: Fragment): void
  warning(message: Fragment): void
  /** Absent if debug logging is off. A call with `?.` then does not even build the message. */
  readonly debug?: ((message: Fragment) => void) | undefined
}

/** Main sets each output as soon as its value is known. No output contains free text of the service. */
export interface Outputs
  extends Record<'run-id' | 'run-url' | 'job-url' | 'status' | 'report-dir' | 'comment-url', string>,
    Record<'total' | 'passed' | 'failed' | 'flaky' | 'skipped' | 'other' | 'duration-ms', number> {
  conclusion: Conclusion
}

/** Writes down for post what is left to do for the step, because main may be killed at any moment. */
export interface Recorder {
  /** Main is about to start a run. Throws if this cannot be written, because post would not learn of the run. */
  starting(): void
  /** Main knows the run's id. Unless `done` follows, post cancels the run, provided that `mayCancel` is true. */
  knowsRun(runId: string, mayCancel: boolean): void
  /** Nothing is left to do. */
  done(): void
}

/** A file for `report-dir`. Its text is made when the file is written, so that memory holds only one text at a time. */
export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json'
  readonly text: () => string | Buffer
}

export interface World {
  readonly clock: Clock
  readonly random: () => number
  /** Aborts with a `StepAborted` when the step is aborted from outside. */
  readonly signal: AbortSignal
  readonly service: ServiceClient
  readonly log: Log
  readonly recorder: Recorder
  /** Whether the job has ended, so that the next job may already use the runner's folders. */
  isJobOver(): boolean
  /** Writes nothing if the job is over. Main may still call it then, while it cancels the run. */
  setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]): void
  annotate(annotation: Annotation): void
  /** Writes lines that GitHub shows folded below their name. */
  writeGroup(group: LogGroup): void
  /** Adds to the job summary. `build` receives the number of bytes that the summary file already has. */
  writeSummary(build: (alreadyBytes: number) => Html): void
  /** Returns the folder. If the files cannot be written, it warns and returns undefined. */
  writeReportFiles(files: readonly ReportFile[], runId: string): string | undefined
  /** Writes the pull request comment if the user wants one. Returns the comment's address. */
  writeComment(outcome: StepOutcome, hasSummary: boolean): Promise<string | undefined>
}
