import type { Outcome, TestCase } from '../outcome/run.ts'
import { durationText } from './duration.ts'
import { type cellHtml, type Html, html, type untruncatedHtml } from './safe-text.ts'
import { shownTitle, truncate } from './visible-text.ts'

/** How a cell takes text: cut for pages with limits, whole for files. */
export type Cell = typeof cellHtml | typeof untruncatedHtml

// Words beside every sign: neither colour nor a picture says anything alone.
const STATUS: Readonly<Record<Exclude<Outcome, 'other'>, Html>> = {
  failed: html`❌ Failed`,
  'timed-out': html`⏱️ Timed out`,
  interrupted: html`⚠️ Interrupted`,
  flaky: html`🔁 Flaky`,
  skipped: html`⏭️ Skipped`,
  passed: html`✅ Passed`,
}

const STATUS_LIMIT_CHARS = 60

/** A table of test cases, in HTML, where text stands more safely than in a table of Markdown. */
export interface CaseTable {
  readonly head: Html
  readonly row: (testCase: TestCase) => Html
  readonly foot: Html
}

/** The test-suite workflow sends no durations: a column of nothing is left out. */
export function hasDurations(testCases: readonly TestCase[]): boolean {
  return testCases.some(({ durationMs }) => durationMs !== undefined)
}

export function caseTable(withDuration: boolean, cell: Cell): CaseTable {
  const heading = withDuration ? html`<th align="right">Duration</th>` : html``
  return {
    head: html`<table>\n<tr><th align="left">Status</th><th align="left">Test</th>${heading}</tr>\n`,
    row(testCase) {
      const duration = withDuration ? html`<td align="right" nowrap>${durationOf(testCase)}</td>` : html``
      return cell`<tr><td>${statusOf(testCase)}</td><td>${shownTitle(testCase.title)}</td>${duration}</tr>\n`
    },
    foot: html`</table>\n`,
  }
}

function statusOf({ outcome, rawStatus }: TestCase): Html {
  return outcome === 'other' ? html`❔ ${truncate(rawStatus, STATUS_LIMIT_CHARS)}` : STATUS[outcome]
}

function durationOf({ durationMs }: TestCase): Html {
  return durationMs === undefined ? html`–` : html`${durationText(durationMs)}`
}
