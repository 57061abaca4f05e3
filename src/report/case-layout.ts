import type { StepOutcome } from '../model/outcome.ts'
import type { CaseKind, TestCase } from '../model/run.ts'
import { beginningOf, type Fragment, fragment, type Html, html, link } from '../text/safe-text.ts'
import { rawText, type Untrusted, untrusted } from '../text/untrusted.ts'
import { firstLineOf, oneLine, TEXT_LIMIT_CHARS, visibleLines } from '../text/visible-text.ts'
import { DOT, durationText, join } from './phrases.ts'
import { type CaseWithWords, type Place, pastText, placeText, titleOf } from './test-case.ts'

// How pages show test cases. It is HTML, because untrusted text is easier to escape there than in Markdown.

// Every sign has words beside it, because not every reader can see the picture or its colour.
const STATUS_TEXTS: Readonly<Record<Exclude<CaseKind, 'other'>, Fragment>> = {
  failed: fragment`❌ Failed`,
  'timed-out': fragment`⏱️ Timed out`,
  interrupted: fragment`⚠️ Interrupted`,
  flaky: fragment`🔁 Flaky`,
  skipped: fragment`⏭️ Skipped`,
  passed: fragment`✅ Passed`,
}

/** What every layout shows of a test case. `mark` is what the baseline says about it. */
function partsOf(testCase: TestCase, outcome: StepOutcome) {
  const { durationMs } = testCase
  return {
    status: statusText(testCase),
    mark: pastText(testCase, outcome),
    title: html`<b>${titleOf(testCase)}</b>`,
    place: linkedPlace(testCase, outcome),
    duration: durationMs === undefined ? undefined : durationText(durationMs),
  }
}

/** With a link to the line at the tested commit, if this commit is known. Undefined without a usable path. */
export function linkedPlace(place: Place, { subject: { sourceUrl } }: StepOutcome): Fragment | undefined {
  const text = placeText(place)
  if (text === undefined || sourceUrl === undefined) return text
  const path = oneLine(rawText(place.filePath ?? ''))
  const address = path.split('/').map(encodeURIComponent).join('/')
  return link(`${sourceUrl}/${address}${place.line === undefined ? '' : `#L${place.line}`}`, text)
}

function statusText({ kind, rawStatus }: TestCase): Fragment {
  if (kind !== 'other') return STATUS_TEXTS[kind]
  const visible = oneLine(rawStatus)
  return rawText(visible) === '' ? fragment`❔ No status` : fragment`❔ ${visible}`
}

/** Why the test case was skipped, if the service says it. */
export function skipReason({ kind, message }: TestCase): Fragment | undefined {
  return kind === 'skipped' && message !== undefined ? fragment`${firstLineOf(message)}` : undefined
}

/** Nothing if there is no text. */
export function onNextLine(text: Fragment | undefined): Html {
  return text === undefined ? html`` : html`<br>${text}`
}

export function caseTable(testCases: readonly TestCase[], outcome: StepOutcome): Html {
  const rows = testCases.map((testCase) => {
    const { status, mark, title, place, duration } = partsOf(testCase, outcome)
    const statusCell = html`<td nowrap>${status}${onNextLine(mark)}</td>`
    const titleCell = html`<td>${title}${onNextLine(place)}${onNextLine(skipReason(testCase))}</td>`
    return html`<tr>${statusCell}${titleCell}<td align="right" nowrap>${duration ?? fragment`–`}</td></tr>\n`
  })
  return html`<table>
<tr><th align="left">Status</th><th align="left">Test</th><th align="right">Duration</th></tr>
${rows}</table>
`
}

/**
 * A test case whose message can be folded. The first line of the message stands in the line that stays visible, because that line wraps on
 * a phone. The lines of the block do not wrap.
 */
export function foldableCase(
  testCase: TestCase,
  outcome: StepOutcome,
  shown: { readonly isOpen: boolean; readonly message: 'whole' | 'first line' },
): Html {
  const { status, mark, title, place, duration } = partsOf(testCase, outcome)
  const { message } = testCase
  const beginning = shown.isOpen ? html`<details open>` : html`<details>`
  const statusAndTitle = mark === undefined ? html`${status} ${title}` : html`${status} · <b>${mark}</b> · ${title}`
  const block = message === undefined || shown.message === 'first line' ? html`` : messageBlock(message)
  return html`${beginning}<summary>${[
    statusAndTitle,
    onNextLine(join([place, duration], DOT)),
    onNextLine(message && fragment`${firstLineOf(message)}`),
  ]}</summary>${block}</details>\n`
}

/** The message without its first line, which the page shows above. If that place truncates the first line, the block has it too. */
export function messageBlock(message: Untrusted, firstLineLimitChars = TEXT_LIMIT_CHARS): Html {
  const isWhole = rawText(firstLineOf(message)).length <= firstLineLimitChars
  const shown = isWhole ? withoutFirstLine(message) : message
  return shown === undefined ? html`` : html`${beginningOf(shown, { lines: 20, chars: 2_000 })}`
}

/** What a message says below its first line. Undefined if it says nothing more. */
function withoutFirstLine(message: Untrusted): Untrusted | undefined {
  const lines = visibleLines(rawText(message))
  const repeated = repeatedByPytest(lines)
  const isText = (line: string) => line.trim() !== ''
  const first = lines.findIndex(isText)
  const begin = lines.findIndex((line, index) => index > first && isText(line) && !repeated.has(line.trim()))
  return begin === -1 ? undefined : untrusted(lines.slice(begin).join('\n'))
}

/**
 * The lines that come again below. In the code of the test, pytest repeats the lines of its message behind an `E`:
 *
 *   AssertionError: no total    the first line
 *   assert 3 == 4               left out, because it comes again
 *   def test_total():           the shown part begins here
 *   >   assert total() == 4, 'no total'
 *   E   AssertionError: no total
 *   E   assert 3 == 4
 */
function repeatedByPytest(lines: readonly string[]): ReadonlySet<string> {
  const marked = lines.filter((line) => /^E\s/.test(line))
  return new Set(marked.map((line) => line.slice(1).trim()))
}

/** The first test cases, each with its file. The place is no link, because a file may be gone at the tested commit. */
export function caseList(listed: readonly CaseWithWords[], limit: number): Html {
  const items = listed.slice(0, limit).map(({ testCase, words }) => {
    const parts = [placeText({ filePath: testCase.filePath }), words].filter((part) => part !== undefined)
    return html`<li><b>${titleOf(testCase)}</b>${parts.map((part) => html` · ${part}`)}</li>\n`
  })
  const more = listed.length - items.length
  return html`<ul>\n${items}${more > 0 ? html`<li>… and ${more} more</li>\n` : html``}</ul>\n`
}
