import { type Counts, countTestCases } from '../domain/run.ts'
import type { StepResult } from '../domain/step-result.ts'
import { durationText } from './duration.ts'
import { line, type Phrase, phrase, textOf } from './inert.ts'

/** The verdict at a glance. Words and numbers of ours alone, so it may stand in Markdown. */
export interface Headline {
  readonly sign: Phrase
  readonly title: Phrase
  /** To follow the title at once: `: 3 of 40`. */
  readonly counts: Phrase
}

/** The title in constant words: GitHub masks no secret in the title of an annotation. */
export function verdictTitle(result: StepResult): string {
  return textOf(line`${headline(result, countsOf(result)).title}`)
}

export function countsOf({ run }: StepResult): Counts {
  return countTestCases(run?.testCases ?? [])
}

/** `counts` are those of the result: whoever writes a page needs them elsewhere too. */
export function headline(result: StepResult, { total, passed, failed, skipped, other }: Counts): Headline {
  const { verdict, ending } = result
  const some = failed > 0 ? phrase`: ${failed} of ${total} failed` : phrase`: ${passed} of ${total} passed`
  const tally = total === 0 ? phrase`` : some
  switch (verdict.conclusion) {
    case 'passed':
      if (failed === 0) {
        // Without the rest, `15 of 16` would read as one that failed.
        const andSkipped = skipped > 0 ? phrase`, ${skipped} skipped` : phrase``
        const andOther = other > 0 ? phrase`, ${other} other` : phrase``
        const counts = phrase`: ${passed} of ${total}${andSkipped}${andOther}`
        return { sign: PASS, title: phrase`Tests passed`, counts }
      }
      return { sign: WARNING, title: phrase`Run passed, with failed tests`, counts: phrase`: ${failed} of ${total}` }
    case 'failed':
      if (failed === 0) return { sign: FAIL, title: phrase`Run failed`, counts: tally }
      return { sign: FAIL, title: phrase`Tests failed`, counts: phrase`: ${failed} of ${total}` }
    case 'no-tests': {
      const none = total === 0 ? phrase`` : phrase`: 0 of ${total}`
      return { sign: verdict.green ? WARNING : FAIL, title: phrase`No tests ran`, counts: none }
    }
    case 'timed-out':
      return { sign: CLOCK, title: phrase`Run timed out`, counts: tally }
    case 'interrupted':
      return { sign: WARNING, title: phrase`Run interrupted`, counts: tally }
    case 'cancelled':
      if (ending.kind === 'aborted') return { sign: STOP, title: phrase`Step cancelled`, counts: tally }
      return { sign: STOP, title: phrase`Run cancelled`, counts: tally }
    case 'wait-timeout': {
      const after = ending.kind === 'wait-timeout' ? phrase` after ${durationText(ending.limitMs)}` : phrase``
      return { sign: CLOCK, title: phrase`Wait limit reached`, counts: phrase`${after}${tally}` }
    }
    case 'started':
      return { sign: phrase`▶️`, title: phrase`Run started`, counts: phrase`` }
    case 'error':
      return { sign: FAIL, title: errorTitle(result), counts: tally }
  }
}

const PASS = phrase`✅`
const FAIL = phrase`❌`
const WARNING = phrase`⚠️`
const CLOCK = phrase`⏱️`
const STOP = phrase`🚫`

function errorTitle({ ending }: StepResult): Phrase {
  if (ending.kind !== 'gave-up') return phrase`Run status unknown`
  if (ending.during === 'wait') return phrase`Run could not be read`
  return ending.cancellation.kind === 'no-run' ? phrase`Run not started` : phrase`Start failed`
}
