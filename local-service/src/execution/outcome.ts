import { whyNotPassed } from '../frameworks/reason.ts'
import { isBad, type Report, type TestCase, toMessage } from '../frameworks/report.ts'
import type { Unusable } from '../frameworks/unusable.ts'
import { type CommandEnd, exitedWithError, hasSucceeded } from '../machine/command.ts'

export interface RunOutcome {
  readonly status: 'PASSED' | 'FAILED' | 'TIMEDOUT' | 'CANCELLED' | 'INTERRUPTED'
  readonly testCases: readonly TestCase[]
  /** Why the run as a whole did not pass, if the test cases do not say it. It never quotes the output of `setup` and of `fix`. */
  readonly message?: string | undefined
  /** Where an error outside the tests happened, as in a test case. */
  readonly filePath?: string | undefined
  readonly line?: number | undefined
}

/** Why the service stops a run. It is the reason of the run's AbortSignal. */
export type StopReason = Omit<RunOutcome, 'testCases'>

/** The outcome of a run whose tests did not begin. */
export function withoutTests(message: string): RunOutcome {
  return { status: 'INTERRUPTED', message, testCases: [] }
}

/** The outcome of a run that cannot start its tests, or cannot merge the reports of the shards. */
export function outcomeOfUnusable({ kind, reason }: Unusable): RunOutcome {
  return { ...withoutTests(reason), status: kind === 'over-limit' ? 'FAILED' : 'INTERRUPTED' }
}

/** The exit code decides. A report can make exit code 0 worse, and no report makes another exit code better. */
export function toOutcome(
  caller: Parameters<typeof whyNotPassed>[0],
  end: CommandEnd,
  report: Report | undefined,
): RunOutcome {
  const testCases = report?.testCases ?? []
  const status = statusOf(end, report)
  if (status === 'PASSED') return { status, testCases }
  const reason = whyNotPassed(caller, end, report)
  return { status, testCases, message: reason && toMessage(reason), ...report?.place }
}

/**
 * The first row that applies decides:
 *
 * | the command | the report | the run |
 * | --- | --- | --- |
 * | was killed, stopped, or could not be started | any | INTERRUPTED |
 * | any other | is over a limit (`mustFail`) | FAILED |
 * | exited with 1 to 127 | any other | FAILED |
 * | exited with 0, or with 128 and more, as a shell does after a signal | is missing, or is not complete | INTERRUPTED |
 * | exited with 128 and more | is complete | FAILED |
 * | exited with 0 | has a failed test or a problem | FAILED |
 * | exited with 0 | any other | PASSED |
 *
 * Without a command, a complete report counts as after exit code 0. One that is not complete is FAILED if a test failed, else INTERRUPTED.
 */
function statusOf(end: CommandEnd, report: Report | undefined): RunOutcome['status'] {
  if (end.kind === 'cut-off') return 'INTERRUPTED'
  if (report?.mustFail) return 'FAILED'
  const hasFailedTests = report?.testCases.some(isBad) === true
  if (!report?.isComplete) {
    return exitedWithError(end) || (end.kind === 'no-command' && hasFailedTests) ? 'FAILED' : 'INTERRUPTED'
  }
  const isFine = end.kind === 'no-command' || hasSucceeded(end)
  // A report without a test case may pass, because a framework then exits with 0 only if it is configured to.
  return isFine && report.problem === undefined && !hasFailedTests ? 'PASSED' : 'FAILED'
}
