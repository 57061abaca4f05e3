/** The interface leaves the statuses of a test case open. This service sends these statuses. */
export type TestCaseStatus = 'PASSED' | 'FLAKY' | 'FAILED' | 'TIMEDOUT' | 'INTERRUPTED' | 'SKIPPED'

export interface TestCase {
  readonly title: string
  readonly status: TestCaseStatus
  readonly durationMs: number
  /** Why it did not pass. A flaky test has the message of its last failed attempt. */
  readonly message?: string | undefined
  /**
   * The file of the failure, else of the test. It starts at the root of the repository. If there is no repository, it starts at the
   * project's folder.
   */
  readonly filePath?: string | undefined
  /** The line of the failure. */
  readonly line?: number | undefined
}

const BAD_STATUSES: ReadonlySet<TestCaseStatus> = new Set(['FAILED', 'TIMEDOUT', 'INTERRUPTED'])

/** Whether a test case keeps its run from passing. */
export function isBad({ status }: TestCase): boolean {
  return BAD_STATUSES.has(status)
}
