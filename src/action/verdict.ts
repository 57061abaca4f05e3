import { comparePast, compareTestCases } from '../model/baseline.ts'
import type { Conclusion, EndedStep, StepOutcome, Verdict } from '../model/outcome.ts'
import { type Counts, countTestCases, isSameBranch, type Run } from '../model/run.ts'

export interface VerdictRules {
  /** Accepts a PASSED run in which no test case ran. */
  readonly passWithNoTests: boolean
  /** Refuses a PASSED run with test cases that failed or have no known result. */
  readonly strict: boolean
}

const CONCLUSION_OF_STATUS: Readonly<Partial<Record<Run['status'], Conclusion>>> = {
  FAILED: 'failed',
  TIMEDOUT: 'timed-out',
  CANCELLED: 'cancelled',
  INTERRUPTED: 'interrupted',
}

/** A step that waits succeeds only after a PASSED run. `rules` say what else a PASSED run needs. */
export function concludeStep(ended: EndedStep, rules: VerdictRules): StepOutcome {
  const testCases = ended.run?.testCases ?? []
  const { baseline } = ended.subject
  const counts = countTestCases(testCases)
  return {
    ...ended,
    ...verdictOf(ended, counts, rules),
    counts,
    past: baseline && comparePast(testCases, baseline),
    comparison: baseline && compareTestCases(ended.run, baseline),
  }
}

function verdictOf(ended: EndedStep, counts: Counts, rules: VerdictRules): Verdict {
  const { ending, run } = ended
  switch (ending.kind) {
    case 'finished':
      if (run?.status !== 'PASSED')
        return { conclusion: (run && CONCLUSION_OF_STATUS[run.status]) ?? 'error', success: false }
      if (isOtherBranch(ended)) return { conclusion: 'error', success: false }
      return verdictOfPassed(counts, rules)
    case 'started':
      return { conclusion: 'started', success: true }
    case 'aborted':
      return { conclusion: 'cancelled', success: false }
    case 'wait-timeout':
      return { conclusion: 'wait-timeout', success: false }
    case 'start-failed':
    case 'poll-failed':
      return { conclusion: 'error', success: false }
  }
}

function verdictOfPassed(counts: Counts, { passWithNoTests, strict }: VerdictRules): Verdict {
  const didAnyCaseRun = counts.passed + counts.failed > 0
  const hasDoubts = counts.failed + counts.other > 0
  if (!didAnyCaseRun && !passWithNoTests) return { conclusion: 'no-tests', success: false }
  if (strict && hasDoubts) return { conclusion: 'failed', success: false }
  return { conclusion: didAnyCaseRun ? 'passed' : 'no-tests', success: true }
}

/** If the input `run-id` names the run, it may be of any branch. The branch of a test suite is only metadata. */
function isOtherBranch({ run, subject: { target, ownsRun, parameters } }: EndedStep): boolean {
  const { branch } = parameters
  if (!ownsRun || target.kind !== 'project' || branch === undefined || run?.branchName === undefined) return false
  return !isSameBranch(run.branchName, branch)
}
