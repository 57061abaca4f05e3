import { CASE_KINDS, type CaseKind, FAILING, type TestCase } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { beginningOf, type Html, html, type MessageLimit, untruncated } from '../text/safe-text.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { visibleText } from '../text/visible-text.ts'

/** The kinds in the open table of the summary and in the comment. */
export const FAILING_OR_OTHER: readonly CaseKind[] = [...FAILING, 'other']

/** The test cases of these kinds, sorted by kind. Within one kind, the order is the service's. */
export function casesOfKind(kinds: readonly CaseKind[], testCases: readonly TestCase[]): readonly TestCase[] {
  const wanted = CASE_KINDS.filter((kind) => kinds.includes(kind))
  return wanted.flatMap((kind) => testCases.filter((testCase) => testCase.kind === kind))
}

/** The title in visible characters, or `(untitled)` if it has none. */
export function titleOf({ title }: TestCase, limitChars?: number): Untrusted {
  return visibleText(title, limitChars) || untrusted('(untitled)')
}

/** The file and the line of a failure, such as `e2e/pay.spec.ts:12`. Undefined if the service sent no usable path. */
export function locationText({ location }: TestCase, limitChars?: number): Untrusted | undefined {
  if (location === undefined) return undefined
  const line = location.line === undefined ? '' : `:${location.line}`
  return untrusted(`${visibleText(location.filePath, limitChars)}${line}`)
}

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
const MESSAGE_LIMIT: MessageLimit = { lines: 20, chars: 2_000 }

/** A table of test cases, in HTML, because untrusted text is easier to escape there than in Markdown. */
export interface CaseTable {
  readonly head: Html
  readonly row: (testCase: TestCase) => Html
  /** The row with the message of the test case below its title. */
  readonly rowWithMessage: (testCase: TestCase) => Html
  readonly foot: Html
}

export function caseTable(testCases: readonly TestCase[]): CaseTable {
  // The test-suite workflow sends no durations.
  const withDuration = testCases.some(({ durationMs }) => durationMs !== undefined)
  const heading = withDuration ? html`<th align="right">Duration</th>` : html``
  const row = (testCase: TestCase, message?: Html) => {
    const location = locationText(testCase, PATH_LIMIT_CHARS)
    const where = location === undefined ? html`` : html`<br>${untruncated(location)}`
    const duration = withDuration ? html`<td align="right" nowrap>${durationCell(testCase)}</td>` : html``
    // Beside a long message, status and duration stand at its top.
    const start = message === undefined ? html`<tr>` : html`<tr valign="top">`
    const title = titleOf(testCase, TITLE_LIMIT_CHARS)
    return html`${start}<td nowrap>${statusCell(testCase)}</td><td>${title}${where}${message ?? html``}</td>${duration}</tr>\n`
  }
  return {
    head: html`<table>\n<tr><th align="left">Status</th><th align="left">Test</th>${heading}</tr>\n`,
    row: (testCase) => row(testCase),
    rowWithMessage: (testCase) => row(testCase, testCase.message && messageBlock(testCase.message)),
    foot: html`</table>\n`,
  }
}

export function messageBlock(message: Untrusted): Html {
  return html`<blockquote>${beginningOf(message, MESSAGE_LIMIT)}</blockquote>`
}

function statusCell({ kind, rawStatus }: TestCase): Html {
  if (kind !== 'other') return STATUS[kind]
  return html`❔ ${visibleText(rawStatus, STATUS_LIMIT_CHARS) || 'No status'}`
}

function durationCell({ durationMs }: TestCase): Html {
  return durationMs === undefined ? html`–` : html`${durationText(durationMs)}`
}
