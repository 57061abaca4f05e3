import type { StepOutcome } from '../outcome/step-outcome.ts'
import { caseTable, hasDurations } from './case-table.ts'
import { casesWith, NOT_PASSED } from './cases-by-outcome.ts'
import { headline } from './headline.ts'
import { cellHtml, type Fragment, fragment, type Html, hiddenMarker, html, link, render } from './safe-text.ts'
import { countsLine, explanation, factsOf, incompleteWarning, joinWithDots } from './summary-head.ts'

const ROWS_SHOWN = 20
/** Of the 65,536 that GitHub takes; what stands around the rows needs its room too. */
const ROWS_LIMIT_CHARS = 32_000

export interface CommentOptions {
  /** By what the comment is found again: one HTML comment, of our own words. */
  readonly marker: string
  /** The matrix context as JSON. */
  readonly matrix?: string
  /** The `comment-key` input. */
  readonly key?: string
  readonly job?: { readonly name: string; readonly url: string }
  /** There is a job summary to send people to. */
  readonly hasSummary: boolean
}

/** The pull request comment. Its parts are few and their text is cut, so that it stays below GitHub's 65,536 characters. */
export function commentBody(result: StepOutcome, options: CommentOptions): Html {
  const { counts } = result
  const { sign, title, counts: numbers } = headline(result, counts)
  return html`${hiddenMarker(options.marker)}
<h3>${sign} ${title}${numbers}${apart(options)}</h3>
${explanation(result, counts)}${countsLine(result, counts)}${incompleteWarning(result)}${notPassed(result, options)}${footer(result, options)}`
}

function notPassed({ run }: StepOutcome, { hasSummary }: CommentOptions): Html {
  const testCases = casesWith(NOT_PASSED, run?.testCases ?? [])
  if (testCases.length === 0) return html``
  const table = caseTable(hasDurations(testCases), cellHtml)
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
function footer(result: StepOutcome, { job }: CommentOptions): Html {
  const log = job === undefined ? html`` : html` · ${link(job.url, fragment`Log of the job ${job.name}`)}`
  return html`<p>${joinWithDots(factsOf(result))}${log}</p>\n`
}

/** The comment's key, and the matrix leg as GitHub names jobs: `ubuntu-latest, 20`. */
function apart({ key = '', matrix = '' }: CommentOptions): Fragment {
  const parts = [key, scalarsIn(parsed(matrix)).join(', ')].filter((part) => part !== '')
  return parts.reduce((all, part) => fragment`${all} · ${part}`, fragment``)
}

function parsed(matrix: string): unknown {
  try {
    return JSON.parse(matrix)
  } catch {
    return undefined
  }
}

function scalarsIn(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  return typeof value === 'object' ? Object.values(value).flatMap(scalarsIn) : [String(value)]
}
