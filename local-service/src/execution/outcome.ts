import type { TestCase } from '../frameworks/test-case.ts'

// local-service/test/life/run-states.test.ts tests this file.

/** The final statuses of a run. */
export type FinalStatus = 'PASSED' | 'FAILED' | 'TIMEDOUT' | 'CANCELLED' | 'INTERRUPTED'

export interface RunOutcome {
  readonly status: FinalStatus
  readonly testCases: readonly TestCase[]
  /**
   * Why the run as a whole did not pass, if the test cases do not say it. It may quote an error of the framework, as messages of
   * test cases do. It never quotes other output, such as the output of `setup`, which may be secret.
   */
  readonly message?: string | undefined
  /** What auto-fix did, as sentences. Absent if it was not tried. */
  readonly fix?: string | undefined
}

export function interruptedBecause(message?: string): RunOutcome {
  return { status: 'INTERRUPTED', testCases: [], message }
}
