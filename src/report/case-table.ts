import type { StepOutcome } from '../model/outcome.ts'
import type { CaseKind, TestCase } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Html, html, untruncated } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { visibleText } from '../text/visible-text.ts'
import { hasFailedBefore, locationText, titleOf } from './cases.ts'
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
export interface Columns extends Pick<StepOutcome, 'newFailures'> {
  /** False if no test case has a duration, as in the test-suite workflow. */
  readonly hasDuration: boolean
}

export function columnsFor(testCases: readonly TestCase[], { newFailures }: Pick<StepOutcome, 'newFailures'>): Columns {
  return { newFailures, hasDuration: testCases.some(({ durationMs }) => durationMs !== undefined) }
}

/** What a row shows: the title alone, or also the place, or also the message, which may be folded below its first line. */
export type Detail = 'title' | 'place' | 'message' | 'folded message'

export function caseRow(testCase: TestCase, detail: Detail, columns: Columns): Html {
  const place = detail === 'title' ? undefined : locationText(testCase, PATH_LIMIT_CHARS)
  const message = messageOf(testCase, detail)
  const duration = columns.hasDuration ? html`<td align="right" nowrap>${durationCell(testCase)}</td>` : html``
  const cells = html`<td nowrap>${statusCell(testCase, columns)}</td><td>${nameOf(testCase, place, message)}</td>${duration}`
  // Beside a long message, status and duration stand at its top.
  return message === undefined ? html`<tr>${cells}</tr>\n` : html`<tr valign="top">${cells}</tr>\n`
}

function nameOf(testCase: TestCase, place: Untrusted | undefined, message: Html | undefined): Html {
  const title = titleOf(testCase, TITLE_LIMIT_CHARS)
  const below = message ?? html``
  if (place === undefined) return message === undefined ? html`${title}` : html`<b>${title}</b>${below}`
  // A file that cannot be loaded has its path as its title.
  if (String(title) === String(testCase.location?.filePath)) return html`<b>${untruncated(place)}</b>${below}`
  return html`<b>${title}</b><br>${untruncated(place)}${below}`
}

function messageOf({ message }: TestCase, detail: Detail): Html | undefined {
  if (message === undefined) return undefined
  if (detail === 'message') return messageBlock(message)
  return detail === 'folded message' ? foldedMessage(message) : undefined
}

export function caseTable(rows: readonly Html[], { hasDuration }: Columns): Html {
  const duration = hasDuration ? html`<th align="right">Duration</th>` : html``
  const head = html`<tr><th align="left">Status</th><th align="left">Test</th>${duration}</tr>`
  return html`<table>\n${head}\n${rows}</table>\n`
}

function statusCell(testCase: TestCase, columns: Columns): Html {
  return hasFailedBefore(testCase, columns) ? html`${statusOf(testCase)}<br>failed before` : statusOf(testCase)
}

function statusOf({ kind, rawStatus }: TestCase): Html {
  if (kind !== 'other') return STATUS[kind]
  const visible = visibleText(rawStatus, STATUS_LIMIT_CHARS)
  return String(visible) === '' ? html`❔ No status` : html`❔ ${visible}`
}

function durationCell({ durationMs }: TestCase): Html {
  return durationMs === undefined ? html`–` : html`${durationText(durationMs)}`
}
