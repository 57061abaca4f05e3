import type { TestCase } from '../frameworks/test-case.ts'

// local-service/test/life/run-states.test.ts tests this file.

/** The final statuses of a run. */
export type FinalStatus = 'PASSED' | 'FAILED' | 'TIMEDOUT' | 'CANCELLED' | 'INTERRUPTED'

export interface RunOutcome {
  readonly status: FinalStatus
  readonly testCases: readonly TestCase[]
  /**
   * Why the run as a whole did not pass, if the test cases do not say it. It may quote the end of the framework's output. It never
   * quotes the output of `setup` and of `fix`.
   */
  readonly message?: string | undefined
}

export function interruptedBecause(message?: string): RunOutcome {
  return { status: 'INTERRUPTED', testCases: [], message }
}
