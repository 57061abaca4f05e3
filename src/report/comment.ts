import type { StepResult } from '../domain/step-result.ts'
import type { Redact } from '../domain/without-key.ts'
import { caseTable, hasDurations } from './case-table.ts'
import { casesWith, NOT_PASSED } from './cases-by-outcome.ts'
import { countsOf, headline } from './headline.ts'
import { cellHtml, type Html, hiddenMarker, html, link, type Phrase, phrase } from './inert.ts'
import { countsLine, incompleteWarning, story } from './summary-head.ts'

const ROWS_SHOWN = 20

export interface CommentOptions {
  /** Masks the API key in the matrix. */
  readonly redact: Redact
  /** By what the comment is found again: one HTML comment, of our own words. */
  readonly marker: string
  /** The matrix context as JSON. */
  readonly matrix?: string
  readonly jobUrl?: string
}

/**
 * The pull request comment. Its parts are few and their text is cut, so that it stays far below GitHub's 65,536
 * characters, whatever the text.
 */
export function commentBody(result: StepResult, { redact, marker, matrix, jobUrl }: CommentOptions): Html {
  const counts = countsOf(result)
  const { sign, title, counts: numbers } = headline(result, counts)
  const leg = legOf(matrix ?? '', redact)
  return html`${hiddenMarker(marker)}
<h3>${sign} ${title}${numbers}${leg}</h3>
${story(result, counts)}${countsLine(result, counts)}${incompleteWarning(result)}${notPassed(result)}${footer(result, jobUrl)}`
}

function notPassed({ run }: StepResult): Html {
  const testCases = casesWith(NOT_PASSED, run?.testCases ?? [])
  if (testCases.length === 0) return html``
  const table = caseTable(hasDurations(testCases), cellHtml)
  const more = testCases.length - ROWS_SHOWN
  const rest = more > 0 ? html`<p>… and ${more} more in the summary of the job.</p>\n` : html``
  return html`${table.head}${testCases.slice(0, ROWS_SHOWN).map(table.row)}${table.foot}${rest}`
}

function footer({ runId }: StepResult, jobUrl: string | undefined): Html {
  const run = runId === undefined ? [] : [html`Run ${runId}`]
  const job = jobUrl === undefined ? [] : [link(jobUrl, phrase`Job log`)]
  const [first, second] = [...run, ...job]
  if (first === undefined) return html``
  return html`<p>${first}${second === undefined ? html`` : html` · ${second}`}</p>\n`
}

/** The matrix leg as GitHub names jobs: `ubuntu-latest, 20`. */
function legOf(matrix: string, redact: Redact): Phrase {
  const values = redact(scalarsIn(parsed(matrix)).join(', '))
  return values === '' ? phrase`` : phrase` · ${values}`
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
