// What a run by hand and a run through the service have in common.

export const FRAMEWORKS = ['vitest', 'playwright', 'jest'] as const

export type Framework = (typeof FRAMEWORKS)[number]

export type Status = 'PASSED' | 'FLAKY' | 'FAILED' | 'TIMEDOUT' | 'INTERRUPTED' | 'SKIPPED'

/** A project, and how it runs by hand and through the service. */
export interface Subject {
  readonly framework: Framework
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Gives the folder of the project. It is called for each run, so that every run can have a folder of its own. */
  readonly folder: () => string | Promise<string>
  /** Whether the run that writes the report is the only one by hand. Its exit code then counts, so nothing may name other reporters. */
  readonly isOnce?: boolean
  /** How long the tests may take by hand, and through the service. If it is absent, the limits are those of both. */
  readonly limitMs?: number
}

/** A test as the framework's own report has it. */
export interface TestByHand {
  /** From the project's folder. */
  readonly file: string
  /** The framework project, if the report names it. */
  readonly project?: string | undefined
  /** The titles of the describe blocks, then the title of the test. */
  readonly path: readonly string[]
  /** PENDING is a test that had not ended. Vitest's report does not say whether it had begun. */
  readonly status: Status | 'PENDING'
}

export interface ReportByHand {
  readonly tests: readonly TestByHand[]
  /** The files that the framework calls failed, from the project's folder. */
  readonly failedFiles: readonly string[]
  /** Files that Vitest calls failed, and of which its report says nothing else. They may not have begun, or have an empty block. */
  readonly unexplainedFiles?: readonly string[]
}

/** An exit code, the signal that ended the process, or `stopped` if the process had to be stopped. */
export type ProcessEnd = number | NodeJS.Signals | 'stopped'

export interface ByHand {
  /** The command that was run. */
  readonly command: string
  readonly end: ProcessEnd
  readonly output: string
  /** Undefined if the framework wrote no report, for example because it could not start. */
  readonly report?: ReportByHand | undefined
  /** How the run that wrote the report ended. If it ended otherwise, the tests of the report may not be those of the command. */
  readonly endWithReport: ProcessEnd
}

export interface TestCase {
  readonly title: string
  readonly status: string
}

export type ThroughService =
  /** The service did not start with these arguments. */
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'finished'
      readonly status: string
      readonly message?: string | undefined
      readonly testCases: readonly TestCase[]
    }

/** Whoever uses this program can change what the error says. */
export class UsageError extends Error {}
