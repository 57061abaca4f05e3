import type { StepOutcome } from '../outcome/step-outcome.ts'
import { type Fragment, fragment, type Html, hiddenMarker, html, link, render } from '../text/safe-text.ts'
import { casesWith, caseTable, hasDurations, NOT_PASSED } from './case-table.ts'
import { introduction } from './job-summary.ts'
import { factsText, isSameBranch, joinWithDots, pageTitle } from './outcome-text.ts'

const ROWS_SHOWN = 20
/** Of the 65,536 that GitHub takes; what surrounds the rows needs its share too. */
const ROWS_LIMIT_CHARS = 32_000

export interface CommentBodyOptions {
  /** Finds the comment again: one HTML comment, of our own words. */
  readonly marker: string
  /** There is a job summary to send people to. */
  readonly hasSummary: boolean
  /** The branch that the pull request wants to have merged; absent if it could not be found out. */
  readonly pullRequestBranch?: string | undefined
}

/** The pull request comment. Its parts are few and their text is truncated, so that it fits GitHub's 65,536 characters. */
export function commentBody(outcome: StepOutcome, options: CommentBodyOptions): Html {
  return html`${hiddenMarker(options.marker)}
<h3>${pageTitle(outcome, ...otherBranch(outcome, options))}</h3>
${introduction(outcome)}${notPassed(outcome, options)}${footer(outcome)}`
}

/** A check must not seem to be about code that was not tested. */
function otherBranch({ subject, run }: StepOutcome, { pullRequestBranch }: CommentBodyOptions): readonly Fragment[] {
  const sent = subject.ownsRun ? subject.parameters.branch : undefined
  const tested = run?.branchName ?? sent
  if (pullRequestBranch === undefined) return []
  if (tested !== undefined) return isSameBranch(tested, pullRequestBranch) ? [] : [fragment`branch ${tested}`]
  // Which branch a run has that was started elsewhere, only the service can say.
  return subject.ownsRun ? [fragment`the project's default branch`] : []
}

function notPassed({ run }: StepOutcome, { hasSummary }: CommentBodyOptions): Html {
  const testCases = casesWith(NOT_PASSED, run?.testCases ?? [])
  if (testCases.length === 0) return html``
  const table = caseTable(hasDurations(testCases))
  const rows = firstRows(testCases.slice(0, ROWS_SHOWN).map(table.row))
  const more = testCases.length - rows.length
  const where = hasSummary ? fragment` in the summary of the job` : fragment``
  const rest = more > 0 ? html`<p>… and ${more} more${where}.</p>\n` : html``
  return html`${table.head}${rows}${table.foot}${rest}`
}

function firstRows(rows: readonly Html[]): readonly Html[] {
  let leftChars = ROWS_LIMIT_CHARS
  const tooLong = rows.findIndex((row) => {
    leftChars -= render(row).length
    return leftChars < 0
  })
  return tooLong === -1 ? rows : rows.slice(0, tooLong)
}

/** What was run, and by which job: a pull request may have several of these comments. */
function footer(outcome: StepOutcome): Html {
  const { job } = outcome.subject
  const log = job === undefined ? [] : [fragment`${link(job.url, fragment`Log of the job ${job.name}`)}`]
  return html`<p>${joinWithDots([factsText(outcome), ...log])}</p>\n`
}
