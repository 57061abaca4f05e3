import type { Clock } from '../clock.ts'
import type { ReportFile } from '../files/report-files.ts'
import type { Annotation, Outputs } from '../github/outputs.ts'
import type { MainFileWriter } from '../handover/main-file-writer.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Html, Log } from '../text/safe-text.ts'

export interface World {
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
  readonly service: ServiceClient
  readonly log: Log
  readonly mainFile: Pick<MainFileWriter, 'starting' | 'started' | 'done'>
  /** Writes nothing if the runner does not read it any more. Main may still call it then, while it cancels the run. */
  setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]): void
  annotate(annotation: Annotation): void
  /** From now on, the runner hides this value in the log, in annotations and in the summary. */
  mask(value: string): void
  /** The text of main's own program. A value that occurs in it is not masked: see `isWrittenByMain`. */
  programText(): string
  /** Adds to the job summary. `build` receives the number of bytes that the summary file already has. */
  writeSummary(build: (alreadyBytes: number) => Html): void
  /** Returns the folder. */
  writeReportFiles(files: readonly ReportFile[], runId: string): string | undefined
  /** Writes the pull request comment if the user wants one, and if `build` returns it. Returns the comment's address. */
  writeComment(build: () => Html | undefined, success: boolean): Promise<string | undefined>
}

export type RunWorld = Pick<World, 'service' | 'clock' | 'random' | 'log' | 'signal'>
