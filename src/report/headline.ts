import type { Counts } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { durationText } from './duration.ts'
import { type Fragment, fragment, logLine, render } from './safe-text.ts'

/** The verdict at a glance. Words and numbers of ours alone, so it may stand in Markdown. */
export interface Headline {
  readonly sign: Fragment
  readonly title: Fragment
  /** To follow the title at once: `: 3 of 40`. */
  readonly counts: Fragment
}

/** The title in constant words: GitHub masks no secret in the title of an annotation. */
export function verdictTitle(result: StepOutcome): string {
  return render(logLine`${headline(result, result.counts).title}`)
}

/** `counts` are those of the result: whoever writes a page needs them elsewhere too. */
export function headline(result: StepOutcome, { total, passed, failed, skipped, other }: Counts): Headline {
  const { conclusion, success, kind } = result
  const some = failed > 0 ? fragment`: ${failed} of ${total} failed` : fragment`: ${passed} of ${total} passed`
  const tally = total === 0 ? fragment`` : some
  switch (conclusion) {
    case 'passed':
      if (failed === 0) {
        // Without the rest, `15 of 16` would read as one that failed.
        const andSkipped = skipped > 0 ? fragment`, ${skipped} skipped` : fragment``
        const andOther = other > 0 ? fragment`, ${other} other` : fragment``
        const counts = fragment`: ${passed} of ${total}${andSkipped}${andOther}`
        return { sign: PASS, title: fragment`Tests passed`, counts }
      }
      return {
        sign: WARNING,
        title: fragment`Run passed, with failed tests`,
        counts: fragment`: ${failed} of ${total}`,
      }
    case 'failed':
      if (failed === 0) return { sign: FAIL, title: fragment`Run failed`, counts: tally }
      return { sign: FAIL, title: fragment`Tests failed`, counts: fragment`: ${failed} of ${total}` }
    case 'no-tests': {
      const none = total === 0 ? fragment`` : fragment`: 0 of ${total}`
      return { sign: success ? WARNING : FAIL, title: fragment`No tests ran`, counts: none }
    }
    case 'timed-out':
      return { sign: CLOCK, title: fragment`Run timed out`, counts: tally }
    case 'interrupted':
      return { sign: WARNING, title: fragment`Run interrupted`, counts: tally }
    case 'cancelled':
      if (kind === 'aborted') return { sign: STOP, title: fragment`Step cancelled`, counts: tally }
      return { sign: STOP, title: fragment`Run cancelled`, counts: tally }
    case 'wait-timeout': {
      const after = result.kind === 'wait-timeout' ? fragment` after ${durationText(result.limit.ms)}` : fragment``
      return { sign: CLOCK, title: fragment`Wait limit reached`, counts: fragment`${after}${tally}` }
    }
    case 'started':
      return { sign: fragment`▶️`, title: fragment`Run started`, counts: fragment`` }
    case 'error':
      return { sign: FAIL, title: errorTitle(result), counts: tally }
  }
}

const PASS = fragment`✅`
const FAIL = fragment`❌`
const WARNING = fragment`⚠️`
const CLOCK = fragment`⏱️`
const STOP = fragment`🚫`

function errorTitle({ kind, cancellation }: StepOutcome): Fragment {
  if (kind === 'finished') return fragment`Run status unknown`
  if (kind === 'poll-failed') return fragment`Run could not be read`
  return cancellation.kind === 'no-run' ? fragment`Run not started` : fragment`Start failed`
}
