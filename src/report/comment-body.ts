import type { StepOutcome } from '../model/outcome.ts'
import { isSameBranch } from '../model/run.ts'
import { type Fragment, fragment, type Html, hiddenMarker, html, link } from '../text/safe-text.ts'
import { caseRow, caseTable, columnsFor } from './case-table.ts'
import { casesOfKind, FAILING_OR_OTHER } from './cases.ts'
import { isCommit, subjectText, testedBranch } from './facts.ts'
import { introduction, pageTitle } from './page.ts'
import { Room } from './room.ts'
import { casesOf, joinWithDots, seeSummary } from './words.ts'

const ROWS_SHOWN = 20
/** GitHub allows 65,536 characters. The other parts are at most half of that. */
const TABLE_LIMIT_BYTES = 32_768

export interface CommentBodyOptions {
  /** An HTML comment by which the action finds its comment again. It contains no untrusted text. */
  readonly marker: string
  readonly hasSummary: boolean
  /** The head branch of the pull request. Absent if the event does not name it. The headline then names the tested branch. */
  readonly pullRequestBranch?: string | undefined
}

/** The pull request comment. Its rows are few and its texts truncated. */
export function commentBody(outcome: StepOutcome, options: CommentBodyOptions): Html {
  return html`${hiddenMarker(options.marker)}
<h3>${pageTitle(outcome, ...branchLabel(outcome, options))}</h3>
${introduction(outcome)}${notPassed(outcome, options)}${footer(outcome)}`
}

function branchLabel(outcome: StepOutcome, { pullRequestBranch }: CommentBodyOptions): readonly Fragment[] {
  const tested = testedBranch(outcome)
  if (tested !== undefined) {
    if (isSameBranch(tested, pullRequestBranch ?? '')) return []
    return [isCommit(tested) ? fragment`on commit ${tested}` : fragment`on branch ${tested}`]
  }
  // If another step started the run, only the service knows its branch.
  return outcome.subject.ownsRun ? [fragment`on the project's default branch`] : []
}

function notPassed(outcome: StepOutcome, { hasSummary }: CommentBodyOptions): Html {
  const testCases = casesOfKind(FAILING_OR_OTHER, outcome)
  if (testCases.length === 0) return html``
  const columns = columnsFor(testCases, outcome)
  const room = new Room({ rows: ROWS_SHOWN, bytes: TABLE_LIMIT_BYTES })
  const rows = room.take(testCases, (testCase) => caseRow(testCase, 'place', columns))
  const more = testCases.length - rows.length
  const rest = more > 0 ? html`<p>… and ${more} more ${casesOf(more)}.${seeSummary(hasSummary)}</p>\n` : html``
  return html`${caseTable(rows, columns)}${rest}`
}

function footer(outcome: StepOutcome): Html {
  const { job } = outcome.subject
  const log = job === undefined ? [] : [link(job.url, fragment`Log of the job ${job.name}`)]
  return html`<p>${joinWithDots([subjectText(outcome), ...log])}</p>\n`
}
