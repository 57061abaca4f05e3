import type { Clock } from '../clock.ts'
import type { Conclusion, StepOutcome } from '../outcome/step-outcome.ts'
import type { Annotation } from '../report/annotations.ts'
import type { ReportFile } from '../report/report-files.ts'
import type { TestService } from '../service/test-service.ts'
import type { Html, LogLine } from '../text/safe-text.ts'

/** Lines for the person who reads the step's log. */
export interface Log {
  info(message: LogLine): void
  /** An annotation without a title. */
  warning(message: LogLine): void
}

/** Each is set the moment it is known. No free text of the service is among them. */
export interface Outputs {
  'run-id': string
  'run-url': string
  'job-url': string
  status: string
  conclusion: Conclusion
  total: number
  passed: number
  failed: number
  flaky: number
  skipped: number
  other: number
  'duration-ms': number
  'report-dir': string
  'comment-url': string
}

/** What main leaves for post, which runs even if main was killed. */
export interface RunState {
  startAttempted(): void
  /** There is a run. Post cancels it unless `done` comes; if it may not be cancelled, that is now. */
  runStarted(runId: string, mayCancel: boolean): void
  /** Nothing is left for post to do. */
  done(): void
  /** Only a person can do more, and main's log says so. If nobody reads that log, post says it. */
  manualCleanupLogged(): void
}

/** The effects that the action has on the world outside: all of them, and nothing is done but through them. */
export interface World {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Aborts, with a `StepCancelled`, when the runner tells the step to end. */
  readonly abort: AbortSignal
  readonly service: TestService
  readonly log: Log
  readonly state: RunState
  setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]): void
  annotate(annotation: Annotation): void
  /** Adds to the job summary what `build` makes of the bytes that the file holds already. */
  writeSummary(build: (alreadyBytes: number) => Html): void
  /** Returns the folder; undefined if nothing could be written, which it has then warned of. */
  writeReportFiles(files: readonly ReportFile[], runId: string): string | undefined
  /** Keeps the pull request comment up to date, if one is wanted; returns its address. */
  comment(outcome: StepOutcome, options: { readonly hasSummary: boolean }): Promise<string | undefined>
}
