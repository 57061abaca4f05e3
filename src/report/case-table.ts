import type { CaseKind, TestCase } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Html, html, untruncated } from '../text/safe-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { locationText, titleOf } from './cases.ts'
import { messageBlock } from './page.ts'

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
export interface Columns {
  /** False if no test case has a duration, as in the test-suite workflow. */
  readonly hasDuration: boolean
}

export function columnsFor(testCases: readonly TestCase[]): Columns {
  return { hasDuration: testCases.some(({ durationMs }) => durationMs !== undefined) }
}

/** What a row shows below the title: nothing, the place, or the place and the message. */
export type Detail = 'title' | 'place' | 'message'

export function caseRow(testCase: TestCase, detail: Detail, { hasDuration }: Columns): Html {
  const message = detail === 'message' && testCase.message !== undefined ? messageBlock(testCase.message) : undefined
  // Beside a long message, status and duration stand at its top.
  const start = message === undefined ? html`<tr>` : html`<tr valign="top">`
  const location = detail === 'title' ? undefined : locationText(testCase, PATH_LIMIT_CHARS)
  const place = location === undefined ? html`` : html`<br>${untruncated(location)}`
  const title = titleOf(testCase, TITLE_LIMIT_CHARS)
  const duration = hasDuration ? html`<td align="right" nowrap>${durationCell(testCase)}</td>` : html``
  return html`${start}<td nowrap>${statusCell(testCase)}</td><td>${title}${place}${message ?? html``}</td>${duration}</tr>\n`
}

export function caseTable(rows: readonly Html[], { hasDuration }: Columns): Html {
  const duration = hasDuration ? html`<th align="right">Duration</th>` : html``
  const head = html`<tr><th align="left">Status</th><th align="left">Test</th>${duration}</tr>`
  return html`<table>\n${head}\n${rows}</table>\n`
}

function statusCell({ kind, rawStatus }: TestCase): Html {
  if (kind !== 'other') return STATUS[kind]
  const visible = visibleText(rawStatus, STATUS_LIMIT_CHARS)
  return String(visible) === '' ? html`❔ No status` : html`❔ ${visible}`
}

function durationCell({ durationMs }: TestCase): Html {
  return durationMs === undefined ? html`–` : html`${durationText(durationMs)}`
}
