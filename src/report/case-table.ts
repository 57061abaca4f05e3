import type { StepOutcome } from '../model/outcome.ts'
import type { CaseKind, TestCase } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Html, html, untruncated } from '../text/safe-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { locationText, pastText, titleOf } from './cases.ts'
import { foldedMessage, messageBlock } from './page.ts'

// A table of test cases, in HTML, because untrusted text is easier to escape there than in Markdown.

// Every sign has words beside it, because not every reader can see the picture or its colour.
const STATUS: Readonly<Record<Exclude<CaseKind, 'other'>, Html>> = {
  failed: html`❌ Failed`,
  'timed-out': html`⏱️ Timed out`,
  interrupted: html`⚠️ Interrupted`,
  flaky: html`🔁 Flaky`,
  skipped: html`⏭️ Skipped`,
  passed: html`✅ Passed`,
}

const STATUS_LIMIT_CHARS = 30
const TITLE_LIMIT_CHARS = 300
const PATH_LIMIT_CHARS = 120

/** What all rows of a page have in common. */
export interface Columns extends Pick<StepOutcome, 'past'> {
  /** False if no test case has a duration, as in the test-suite workflow. */
  readonly hasDuration: boolean
}

export function columnsFor(testCases: readonly TestCase[], { past }: Pick<StepOutcome, 'past'>): Columns {
  return { past, hasDuration: testCases.some(({ durationMs }) => durationMs !== undefined) }
}

/** What a row shows: the title alone, or also the place, or also the message, which may be folded below its first line. */
export type Detail = 'title' | 'place' | 'message' | 'folded message'

export interface CaseRow {
  readonly row: Html
  /** The whole message. It is in no cell, because a wide block would make the table as wide, and a phone would show no whole title. */
  readonly below?: Html | undefined
}

export function caseRow(testCase: TestCase, detail: Detail, columns: Columns): CaseRow {
  const { message } = testCase
  const below = detail === 'message' && message !== undefined ? messageBlock(message) : undefined
  const folded = detail === 'folded message' && message !== undefined ? foldedMessage(message) : undefined
  const name = html`${nameOf(testCase, detail)}${folded ?? html``}`
  // The tables between messages have few rows. They are as wide as the messages, so that their columns are in line.
  const nameCell = below === undefined ? html`<td>${name}</td>` : html`<td width="100%">${name}</td>`
  const duration = columns.hasDuration ? html`<td align="right" nowrap>${durationCell(testCase)}</td>` : html``
  const cells = html`<td nowrap>${statusCell(testCase, columns)}</td>${nameCell}${duration}`
  // Beside several lines, status and duration stand at their top.
  const hasMessage = below !== undefined || folded !== undefined
  return { row: hasMessage ? html`<tr valign="top">${cells}</tr>\n` : html`<tr>${cells}</tr>\n`, below }
}

function nameOf(testCase: TestCase, detail: Detail): Html {
  const title = titleOf(testCase, TITLE_LIMIT_CHARS)
  const place = detail === 'title' ? undefined : locationText(testCase, PATH_LIMIT_CHARS)
  const hasMessage = detail !== 'title' && detail !== 'place' && testCase.message !== undefined
  if (place === undefined) return hasMessage ? html`<b>${title}</b>` : html`${title}`
  // A file that cannot be loaded has its path as its title.
  if (String(title) === String(testCase.filePath)) return html`<b>${untruncated(place)}</b>`
  return html`<b>${title}</b><br>${untruncated(place)}`
}

/** More than one table if there are messages below rows. The first one has the names of the columns. */
export function caseTable(rows: readonly CaseRow[], { hasDuration }: Columns): Html {
  const duration = hasDuration ? html`<th align="right">Duration</th>` : html``
  const head = html`<tr><th align="left">Status</th><th align="left">Test</th>${duration}</tr>`
  const last = rows.length - 1
  const parts = rows.map(({ row, below }, index) => {
    if (below === undefined) return index === last ? html`${row}</table>\n` : row
    return html`${row}</table>\n${below}\n${index === last ? html`` : html`<table>\n`}`
  })
  return html`<table>\n${head}\n${parts}`
}

function statusCell(testCase: TestCase, columns: Columns): Html {
  const past = pastText(testCase, columns)
  return past === undefined ? statusOf(testCase) : html`${statusOf(testCase)}<br>${past}`
}

function statusOf({ kind, rawStatus }: TestCase): Html {
  if (kind !== 'other') return STATUS[kind]
  const visible = visibleText(rawStatus, STATUS_LIMIT_CHARS)
  return String(visible) === '' ? html`❔ No status` : html`❔ ${visible}`
}

function durationCell({ durationMs }: TestCase): Html {
  return durationMs === undefined ? html`–` : html`${durationText(durationMs)}`
}
