import { newFailures } from '../model/baseline.ts'
import type { Conclusion, Ending, RunFacts, StepHistory, StepOutcome, StepSubject, Verdict } from '../model/outcome.ts'
import { countTestCases, type FinishedRun, isSameBranch, type Run } from '../model/run.ts'

export interface VerdictRules {
  /** Accepts a PASSED run in which no test case ran. */
  readonly passWithNoTests: boolean
  /** Refuses a PASSED run with test cases that failed or have no known result. */
  readonly strict: boolean
}

const CONCLUSION_OF_STATUS: Readonly<Record<Exclude<FinishedRun['status'], 'PASSED'>, Conclusion>> = {
  FAILED: 'failed',
  TIMEDOUT: 'timed-out',
  CANCELLED: 'cancelled',
  INTERRUPTED: 'interrupted',
  UNKNOWN: 'error',
}

/**
 * Decides the conclusion, and whether the step succeeds. A step that waits succeeds only after a PASSED run. If the service
 * says that it tested another branch, the step fails. `rules` say what else a PASSED run needs.
 */
export function concludeStep(history: StepHistory, rules: VerdictRules): StepOutcome {
  const known = withRunFinishedAtLimit(history)
  const { run, subject } = known
  const testCases = run?.testCases ?? []
  const facts: RunFacts = {
    counts: countTestCases(testCases),
    newFailures: subject.baseline && newFailures(testCases, subject.baseline),
    otherBranch: run && otherBranchOf(run, subject),
  }
  return { ...known, ...facts, ...decide(known.ending, facts, rules) }
}

/**
 * If the wait's limit was exceeded and the cancel finds a finished run, the run's own verdict counts. After an abort or a failed
 * poll, it does not.
 */
function withRunFinishedAtLimit(history: StepHistory): StepHistory {
  const { cancellation } = history
  if (history.runId === undefined || history.ending.kind !== 'wait-timeout') return history
  if (cancellation.kind !== 'already-finished') return history
  const { run } = cancellation
  return { ...history, ending: { kind: 'finished', run }, run }
}

/**
 * The branches are not compared in two cases. If the input `run-id` names the run, the run may be of any branch. If the
 * target is a test suite, the branch is only metadata.
 */
function otherBranchOf({ branchName }: Run, { target, ownsRun, parameters }: StepSubject): RunFacts['otherBranch'] {
  const { branch } = parameters
  if (!ownsRun || target.kind !== 'project' || branch === undefined || branchName === undefined) return undefined
  return isSameBranch(branchName, branch) ? undefined : { tested: branchName, asked: branch }
}

function decide(ending: Ending, facts: RunFacts, rules: VerdictRules): Verdict {
  const byEnding = (conclusion: Conclusion, success = false): Verdict => ({ reason: 'ending', conclusion, success })
  switch (ending.kind) {
    case 'finished': {
      const { status } = ending.run
      return status === 'PASSED' ? decidePassed(facts, rules) : byEnding(CONCLUSION_OF_STATUS[status])
    }
    case 'started':
      return byEnding('started', true)
    case 'aborted':
      return byEnding('cancelled')
    case 'wait-timeout':
      return byEnding('wait-timeout')
    case 'start-failed':
    case 'poll-failed':
      return byEnding('error')
  }
}

/** The service says PASSED. Then the branch, the test cases and the inputs decide. */
function decidePassed({ counts, otherBranch }: RunFacts, { passWithNoTests, strict }: VerdictRules): Verdict {
  if (otherBranch !== undefined) return { reason: 'other branch', conclusion: 'error', success: false }
  const didAnyCaseRun = counts.passed + counts.failed > 0
  const hasDoubts = counts.failed + counts.other > 0
  if (!didAnyCaseRun && !passWithNoTests) return { reason: 'no tests', conclusion: 'no-tests', success: false }
  if (strict && hasDoubts) return { reason: 'strict', conclusion: 'failed', success: false }
  if (!didAnyCaseRun) return { reason: 'no tests', conclusion: 'no-tests', success: true }
  return { reason: hasDoubts ? 'doubts' : 'no doubts', conclusion: 'passed', success: true }
}
