import type { Clock } from '../clock.ts'
import type { Conclusion, StepOutcome } from '../outcome/step-outcome.ts'
import type { Annotation } from '../report/annotations.ts'
import type { TestService } from '../service/test-service.ts'
import type { Html, LogLine } from '../text/safe-text.ts'

export interface Log {
  info(message: LogLine): void
  warning(message: LogLine): void
  /** Absent if debug logging is off. A call with `?.` then does not even build the message. */
  readonly debug?: ((message: LogLine) => void) | undefined
}

/** Each is set the moment it is known. No free text of the service is among them. */
export interface Outputs
  extends Record<'run-id' | 'run-url' | 'job-url' | 'status' | 'report-dir' | 'comment-url', string>,
    Record<'total' | 'passed' | 'failed' | 'flaky' | 'skipped' | 'other' | 'duration-ms', number> {
  conclusion: Conclusion
}

/** Writes down for post what is left to do for the step, because main may be killed at any moment. */
export interface Recorder {
  /** Throws if post could not learn of a run that is started now. */
  starting(): void
  /** From now on post cancels the run, if it may. */
  started(runId: string, mayCancel: boolean): void
  /** Nothing is left to do. */
  done(): void
  /** Main has told the user what only a person can do. The runner reads the state only if it has read those words too. */
  doneInStateOnly(): void
}

/** A file for `report-dir`. Its text is made when it is written, so that only one stands in memory at a time. */
export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json' | 'summary.md'
  readonly text: () => string | Buffer
}

/** The effects that the action has on the world outside: all of them, and nothing is done but through them. */
export interface World {
  readonly clock: Clock
  readonly random: () => number
  /** Aborts, with a `StepCancelled`, when the runner tells the step to end. */
  readonly abort: AbortSignal
  readonly service: TestService
  readonly log: Log
  readonly recorder: Recorder
  setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]): void
  annotate(annotation: Annotation): void
  /** Adds to the job summary what `build` makes of the bytes that the file holds already. */
  writeSummary(build: (alreadyBytes: number) => Html): void
  /** Returns the folder; undefined if nothing could be written, which it has then warned of. */
  writeReportFiles(files: readonly ReportFile[], runId: string): string | undefined
  /** Keeps the pull request comment up to date, if one is wanted; returns its address. */
  comment(outcome: StepOutcome, options: { readonly hasSummary: boolean }): Promise<string | undefined>
}
