import { comparePast, compareTestCases } from '../model/baseline.ts'
import type { EndedStep, Reason, ReasonOfFinished, StepOutcome, Verdict } from '../model/outcome.ts'
import { type Counts, countTestCases, isSameBranch } from '../model/run.ts'

export interface VerdictRules {
  /** Accepts a PASSED run in which no test case ran. */
  readonly passWithNoTests: boolean
  /** Refuses a PASSED run with test cases that failed or have no known result. */
  readonly strict: boolean
}

/** Only PASSED runs, and steps that do not wait, succeed. */
const VERDICTS: Readonly<Record<Reason['kind'], Omit<Verdict, 'reason'>>> = {
  // The run has finished.
  passed: { conclusion: 'passed', success: true },
  'passed-with-doubts': { conclusion: 'passed', success: true },
  strict: { conclusion: 'failed', success: false },
  'no-tests': { conclusion: 'no-tests', success: false },
  'no-tests-allowed': { conclusion: 'no-tests', success: true },
  'other-branch': { conclusion: 'error', success: false },
  failed: { conclusion: 'failed', success: false },
  'timed-out': { conclusion: 'timed-out', success: false },
  cancelled: { conclusion: 'cancelled', success: false },
  interrupted: { conclusion: 'interrupted', success: false },
  'unknown-status': { conclusion: 'error', success: false },
  // Something else has ended the step.
  started: { conclusion: 'started', success: true },
  aborted: { conclusion: 'cancelled', success: false },
  'wait-timeout': { conclusion: 'wait-timeout', success: false },
  'start-failed': { conclusion: 'error', success: false },
  'poll-failed': { conclusion: 'error', success: false },
}

export function concludeStep(ended: EndedStep, rules: VerdictRules): StepOutcome {
  const { ending, run, subject } = ended
  const testCases = run?.testCases ?? []
  const counts = countTestCases(testCases)
  const reason: Reason = ending.kind === 'finished' ? { kind: reasonOfFinished(ended, counts, rules) } : ending
  return {
    ...ended,
    ...VERDICTS[reason.kind],
    reason,
    counts,
    past: subject.baseline && comparePast(testCases, subject.baseline),
    comparison: subject.baseline && compareTestCases(run, subject.baseline),
  }
}

function reasonOfFinished(ended: EndedStep, counts: Counts, rules: VerdictRules): ReasonOfFinished {
  switch (ended.run?.status) {
    case 'PASSED':
      return isOtherBranch(ended) ? 'other-branch' : reasonOfPassed(counts, rules)
    case 'FAILED':
      return 'failed'
    case 'TIMEDOUT':
      return 'timed-out'
    case 'CANCELLED':
      return 'cancelled'
    case 'INTERRUPTED':
      return 'interrupted'
    default:
      return 'unknown-status'
  }
}

function reasonOfPassed(counts: Counts, { passWithNoTests, strict }: VerdictRules): ReasonOfFinished {
  const didAnyCaseRun = counts.passed + counts.failed > 0
  const hasDoubts = counts.failed + counts.other > 0
  if (!didAnyCaseRun && !passWithNoTests) return 'no-tests'
  // Before `no-tests-allowed`, because cases without a known result are doubts, even if no case is known to have run.
  if (hasDoubts && strict) return 'strict'
  if (!didAnyCaseRun) return 'no-tests-allowed'
  return hasDoubts ? 'passed-with-doubts' : 'passed'
}

/** If the input `run-id` names the run, it may be of any branch. The branch of a test suite is only metadata. */
function isOtherBranch({ run, subject: { target, ownsRun, parameters } }: EndedStep): boolean {
  const { branch } = parameters
  if (!ownsRun || target.kind !== 'project' || branch === undefined || run?.branchName === undefined) return false
  return !isSameBranch(run.branchName, branch)
}
