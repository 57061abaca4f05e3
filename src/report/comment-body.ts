import type { StepOutcome } from '../model/outcome.ts'
import { isFailingOrOther } from '../model/run.ts'
import { fragment, type Html, html, link } from '../text/safe-text.ts'
import { caseTable } from './case-layout.ts'
import { headline, introduction, paragraph, sizeBytes } from './page-head.ts'
import { casesOf, DOT, join } from './phrases.ts'
import { sortedCases } from './test-case.ts'
import { factsOf } from './what-is-tested.ts'

const ROWS_SHOWN = 20
/** GitHub's API refuses a comment with more than 65,536 characters (status 422). comment.ts adds a marker of at most 150. */
const SIZE_LIMIT_BYTES = 65_000

/** The pull request comment, with as many of its rows as fit. */
export function commentBody(outcome: StepOutcome): Html {
  const testCases = sortedCases(outcome).filter(isFailingOrOther)
  const { job } = outcome.subject
  const log = job && link(job.url, fragment`Log of the job ${job.name}`)
  for (let rows = ROWS_SHOWN; ; rows--) {
    const shown = testCases.slice(0, rows)
    const more = testCases.length - shown.length
    const body = html`<h3>${headline(outcome)}</h3>
${[
  introduction(outcome),
  shown.length === 0 ? html`` : caseTable(shown, outcome),
  paragraph(more === 0 ? undefined : fragment`… and ${more} more ${casesOf(more)}.`),
  paragraph(join([...factsOf(outcome), log], DOT)),
]}`
    if (rows === 0 || sizeBytes(body) <= SIZE_LIMIT_BYTES) return body
  }
}
