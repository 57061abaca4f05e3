import type { StepOutcome, StepSubject } from '../model/outcome.ts'
import { type Fragment, fragment, type Html, html, render } from '../text/safe-text.ts'
import { countsLine, headlineCounts } from './counts.ts'
import { endingText, pageSentences } from './ending.ts'
import { casesOf, DOT, join } from './phrases.ts'

// What the job summary and the comment share.

/** The headline, and what distinguishes this step from other steps of the job and from other jobs. */
export function headline(outcome: StepOutcome): Fragment {
  const { sign, title } = endingText(outcome)
  const names = namesOf(outcome.subject).map((name) => fragment`${name}`)
  return join([fragment`${sign} ${title}${headlineCounts(outcome)}`, ...names], DOT)
}

/** The project or the test suite, the framework project and the values of the matrix. */
export function namesOf({ target, parameters, matrix }: StepSubject): readonly string[] {
  return [target.id, parameters.frameworkProject ?? '', matrix].filter((name) => name !== '')
}

/** Below the headline: the counts, what the headline does not say, and a warning. */
export function introduction(outcome: StepOutcome): Html {
  return html`${[
    paragraph(countsLine(outcome)),
    paragraph(pageSentences(outcome)),
    paragraph(incompleteText(outcome), html`⚠️ <b>Incomplete results:</b> `),
  ]}`
}

/** Nothing if there is no text. */
export function paragraph(text: Fragment | undefined, prefix = html``): Html {
  return text === undefined ? html`` : html`<p>${prefix}${text}</p>\n`
}

/** Undefined if results are complete. After a PASSED run, the verdict says which results are not known. */
function incompleteText({ run, counts: { total, other } }: StepOutcome): Fragment | undefined {
  if (run === undefined || total === 0 || run.status === 'PASSED') return undefined
  if (run.status !== 'FAILED')
    return fragment`Results may be missing, because the status of the run is ${run.rawStatus}.`
  return other === 0 ? undefined : fragment`The action knows no result of ${other} of ${total} ${casesOf(total)}.`
}

export function sizeBytes(text: Html): number {
  return Buffer.byteLength(render(text))
}
