import type { StepOutcome } from '../model/outcome.ts'
import {
  beginningOf,
  type Fragment,
  firstLineAndRest,
  fragment,
  type Html,
  html,
  type MessageLimit,
  render,
} from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { countsLine } from './counts.ts'
import { endingText } from './ending.ts'
import { otherBranchWarning } from './facts.ts'
import { casesOf, joinWithDots } from './words.ts'

// What the job summary and the comment share. test/report/job-summary.test.ts, test/report/comment-body.test.ts and
// test/report/endings.test.ts test it.

/** The headline, and the labels that distinguish this step from others. */
export function pageTitle(outcome: StepOutcome, ...more: readonly Fragment[]): Fragment {
  const { sign, title, suffix } = endingText(outcome)
  const labels = outcome.subject.labels.map((label) => fragment`${label}`)
  return joinWithDots([fragment`${sign} ${title}${suffix}`, ...labels, ...more])
}

/** Below the headline: the counts, what the headline does not say, and warnings. */
export function introduction(outcome: StepOutcome): Html {
  const isPartial = isIncomplete(outcome)
  return html`${[
    paragraph(countsLine(outcome)),
    paragraph(endingText(outcome).pageSentences, isPartial ? MAY_BE_INCOMPLETE : html``),
    paragraph(isPartial ? undefined : withoutResultText(outcome), INCOMPLETE),
    paragraph(otherBranchWarning(outcome), OTHER_BRANCH),
  ]}`
}

/** Nothing if there is no text. */
export function paragraph(text: Fragment | undefined, prefix = html``): Html {
  return text === undefined ? html`` : html`<p>${prefix}${text}</p>\n`
}

const INCOMPLETE = html`⚠️ <b>Incomplete results:</b> `
const MAY_BE_INCOMPLETE = html`⚠️ <b>Results may be incomplete:</b> `
const OTHER_BRANCH = html`⚠️ <b>Other branch:</b> `

/** Whether the run stopped early, so that results may be missing. */
function isIncomplete({ run, counts }: StepOutcome): boolean {
  return run !== undefined && counts.total > 0 && run.status !== 'PASSED' && run.status !== 'FAILED'
}

/** Undefined after a PASSED run, because the verdict then says this. */
function withoutResultText({ run, counts }: StepOutcome): Fragment | undefined {
  if (counts.other === 0 || run?.status === 'PASSED') return undefined
  return fragment`The action knows no result of ${counts.other} of ${counts.total} ${casesOf(counts.total)}.`
}

const MESSAGE_LIMIT: MessageLimit = { lines: 20, chars: 2_000 }

export function messageBlock(message: Untrusted): Html {
  return html`${beginningOf(message, MESSAGE_LIMIT)}`
}

/**
 * The message of a run. Its first line says why the run did not pass, so this line wraps. A line of a block does not, and a phone
 * would show only its beginning.
 */
export function messageOfRun(message: Untrusted): Html {
  const { first, rest } = firstLineAndRest(message, MESSAGE_LIMIT)
  return html`<p>The message of the run: ${first}</p>${rest === undefined ? html`` : html`${rest}`}\n`
}

/** The first line of a message, and below it the rest, folded. */
export function foldedMessage(message: Untrusted): Html {
  const { first, rest } = firstLineAndRest(message, MESSAGE_LIMIT)
  return html`<br>${first}${rest === undefined ? html`` : html`<details><summary>more</summary>${rest}</details>`}`
}

export function sizeBytes(text: Html): number {
  return Buffer.byteLength(render(text))
}
