import type { StepOutcome } from '../model/outcome.ts'
import type { Counts } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, render } from '../text/safe-text.ts'
import { countsNotRun } from './facts.ts'
import { inBrackets, join, joinWithDots, NONE, nonZero } from './words.ts'

// test/report/endings.test.ts tests the headline of every ending.

const PASS = fragment`✅`
const FAIL = fragment`❌`
const WARNING = fragment`⚠️`
const CLOCK = fragment`⏱️`
const STOP = fragment`🚫`
const START = fragment`▶️`

interface Headline {
  readonly sign: Fragment
  /** Only constant words. */
  readonly title: Fragment
  /** Follows the title without a space, for example `: 3 of 40`. */
  readonly suffix: Fragment
}

export function headline(outcome: StepOutcome): Headline {
  const { conclusion, ending, run, success, counts } = outcome
  const { total, failed, other } = counts
  const head = (sign: Fragment, title: Fragment, suffix = tallyOf(counts)): Headline => ({ sign, title, suffix })
  const ofTotal = (count: number) => (total === 0 ? NONE : fragment`: ${count} of ${total}`)
  switch (conclusion) {
    case 'passed':
      if (failed > 0) return head(WARNING, fragment`Run passed, with failed tests`, ofTotal(failed))
      if (other > 0) return head(WARNING, fragment`Run passed, with unknown results`, ofTotal(other))
      return head(PASS, fragment`Tests passed`, passedTally(outcome))
    case 'failed':
      if (failed > 0) return head(FAIL, fragment`Tests failed`, ofTotal(failed))
      if (run?.status === 'PASSED') return head(FAIL, fragment`Unknown results`, ofTotal(other))
      return head(FAIL, fragment`Run failed`, total === 0 ? NONE : fragment`, although no test case failed`)
    case 'no-tests':
      return head(success ? WARNING : FAIL, fragment`No tests ran`, ofTotal(0))
    case 'timed-out':
      return head(CLOCK, fragment`Run timed out`)
    case 'interrupted':
      return head(WARNING, fragment`Run interrupted`)
    case 'cancelled':
      return head(STOP, ending.kind === 'aborted' ? fragment`Step cancelled` : fragment`Run cancelled`)
    case 'wait-timeout': {
      if (ending.kind !== 'wait-timeout') return head(CLOCK, fragment`Run did not finish`)
      const title = ending.wasQueued ? fragment`Run did not begin` : fragment`Run did not finish`
      return head(CLOCK, title, fragment` within ${durationText(ending.limitMs)}${tallyOf(counts)}`)
    }
    case 'started':
      return head(START, fragment`Run started`, NONE)
    case 'error':
      // If another branch was tested, the counts say nothing about the branch that was asked for.
      return head(FAIL, errorTitle(outcome), run?.status === 'PASSED' ? NONE : tallyOf(counts))
  }
}

function errorTitle({ ending, run, cancellation }: StepOutcome): Fragment {
  if (ending.kind === 'poll-failed') return fragment`Run status could not be read`
  if (run?.status === 'PASSED') return fragment`Another branch was tested`
  if (ending.kind !== 'start-failed') return fragment`Run finished with an unknown status`
  return cancellation.kind === 'no-run' ? fragment`Run not started` : fragment`Run may have been started`
}

/** If a test case did not run, this says so, because `15 of 16` alone looks like one failure. */
function passedTally(outcome: StepOutcome): Fragment {
  const { total, passed, flaky } = outcome.counts
  const tally = fragment`: ${passed} of ${total}${inBrackets(nonZero(flaky, fragment`flaky`))}`
  return join([tally, ...countsNotRun(outcome)], fragment`, `)
}

function tallyOf({ total, passed, failed }: Counts): Fragment {
  if (total === 0) return NONE
  return failed > 0 ? fragment`: ${failed} of ${total} failed` : fragment`: ${passed} of ${total} passed`
}

/** The title of the verdict's annotation. Only constant words, because the runner masks no secrets in titles. */
export function verdictTitle(outcome: StepOutcome): string {
  return render(headline(outcome).title)
}

/** The title of a page: the headline, and the labels that distinguish this step from others. */
export function pageTitle(outcome: StepOutcome, ...more: readonly Fragment[]): Fragment {
  const { sign, title, suffix } = headline(outcome)
  const labels = outcome.subject.labels.map((label) => fragment`${label}`)
  return joinWithDots([fragment`${sign} ${title}${suffix}`, ...labels, ...more])
}
