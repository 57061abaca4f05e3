import type { StepOutcome } from '../model/outcome.ts'
import { type CaseKind, countTestCases, isFailingOrOther, type Run, type TestCase } from '../model/run.ts'
import { code, type Fragment, fragment, type Html, html, quote } from '../text/safe-text.ts'
import { firstLineOf } from '../text/visible-text.ts'
import { caseList, caseTable, foldableCase, linkedPlace, messageBlock, onNextLine, skipReason } from './case-layout.ts'
import { countsOf } from './counts.ts'
import { headline, introduction, namesOf, paragraph, sizeBytes } from './page-head.ts'
import { casesOf, DOT, inBrackets, join, NONE, SPACE } from './phrases.ts'
import { type CaseWithWords, passedButBadBefore, sortedCases } from './test-case.ts'
import { factsOf } from './what-is-tested.ts'

/** How many test cases a summary shows in all. */
const CASE_LIMIT = 1_000
/** How many test cases that did not pass have a part that can be folded, with the message. The others are rows of a table. */
const FOLDABLE_CASES = 100
/** If more test cases did not pass, their messages are folded. So twenty failures are a list that one can read. */
const MOST_OPEN_CASES = 5
/** The limit of the list of removed test cases, and of the list of newly skipped ones. */
const CHANGED_SHOWN = 100
const UNSTABLE_SHOWN = 20
/**
 * The runner drops a summary over 1,048,576 bytes ("upload aborted, supports content up to a size of 1024k"). This limit is lower, because
 * on Windows each line break has two bytes there.
 */
const SIZE_LIMIT_BYTES = 900_000

/**
 * The first of four pages that fits into the file of the summary, which already contains `alreadyBytes`:
 *
 * 1. The test cases of all kinds, and the lists that need a baseline.
 * 2. Only the test cases that did not pass, without these lists.
 * 3. The test cases of page 2. Of each message, only the first line.
 * 4. Only the headline.
 *
 * CASE_LIMIT and FOLDABLE_CASES hold for the pages 1 to 3.
 */
export function jobSummary(outcome: StepOutcome, alreadyBytes: number, reportDir?: string): Html {
  // An earlier writer to this file may have left an HTML block open. An empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${heading(outcome)}`
  const files = reportDir === undefined ? NONE : fragment`, but the report file ${code('junit.xml')} has everything`
  const all = sortedCases(outcome)
  const firstCases = (count: number) => ({ shown: all.slice(0, count), leftOut: all.slice(count) })
  const lists = baselineLists(outcome)
  const listedCases = lists.reduce((sum, { cases, limit }) => sum + Math.min(cases.length, limit), 0)
  // `all` is sorted by kind, and begins with those that did not pass.
  const notPassedCount = Math.min(all.filter(isFailingOrOther).length, CASE_LIMIT)
  const everything: Page = { ...firstCases(CASE_LIMIT - listedCases), lists, messages: 'whole' }
  const onlyNotPassed: Page = { ...firstCases(notPassedCount), lists: [], messages: 'whole' }
  const withFirstLines: Page = { ...onlyNotPassed, messages: 'first line' }
  for (const page of [everything, onlyNotPassed, withFirstLines]) {
    const leftOut = leftOutText(page)
    const noLists = fragment`This summary has no lists of removed, newly skipped and unstable test cases, because it would be too long.`
    const sentences = [
      leftOut && fragment`This summary leaves out ${leftOut}${files}.`,
      page.lists.length < lists.length ? noLists : undefined,
    ]
    const text = html`${top}${body(outcome, page)}${paragraph(join(sentences, SPACE))}`
    if (alreadyBytes + sizeBytes(text) <= SIZE_LIMIT_BYTES) return text
  }
  return html`${top}${paragraph(fragment`This summary has only its headline, because it would be too long${files}.`)}`
}

/** The summary of a step that has sent no request. */
export function problemsSummary(title: Fragment, messages: readonly Fragment[]): Html {
  const items = messages.map((message) => html`<li>${message}</li>\n`)
  return html`## ❌ ${title}\n<p>Nothing was requested from the service.</p>\n<ul>\n${items}</ul>\n`
}

/** The heading is Markdown, or HTML if Markdown could interpret a value in it. */
function heading(outcome: StepOutcome): Html {
  const title = headline(outcome)
  const isPlain = namesOf(outcome.subject).every((name) => /^[A-Za-z0-9 ,-]+$/.test(name))
  return isPlain ? html`## ${title}\n` : html`<h2>${title}</h2>\n`
}

interface Page {
  readonly shown: readonly TestCase[]
  readonly leftOut: readonly TestCase[]
  readonly lists: readonly List[]
  readonly messages: 'whole' | 'first line'
}

/** Test cases that are listed only if there is a baseline. */
interface List {
  readonly name: Fragment
  readonly cases: readonly CaseWithWords[]
  /** How many of them a page shows. */
  readonly limit: number
}

function baselineLists(outcome: StepOutcome): readonly List[] {
  const { newlySkipped = [], removed = [] } = outcome.comparison ?? {}
  const skipped = newlySkipped.map((testCase) => ({ testCase, words: skipReason(testCase) }))
  const lists: readonly List[] = [
    { name: fragment`Newly skipped`, cases: skipped, limit: CHANGED_SHOWN },
    { name: fragment`Removed`, cases: removed.map((testCase) => ({ testCase })), limit: CHANGED_SHOWN },
    { name: fragment`Unstable in earlier runs`, cases: passedButBadBefore(outcome), limit: UNSTABLE_SHOWN },
  ]
  return lists.filter(({ cases }) => cases.length > 0)
}

function body(outcome: StepOutcome, { shown, lists, messages }: Page): Html {
  const notPassed = shown.filter(isFailingOrOther)
  const areFew = notPassed.length <= MOST_OPEN_CASES
  const parts = (testCases: readonly TestCase[], isOpen: boolean) =>
    testCases.map((testCase) => foldableCase(testCase, outcome, { isOpen, message: messages }))
  const table = (name: Fragment, testCases: readonly TestCase[]) =>
    folded(name, testCases, caseTable(testCases, outcome))
  const ofKind = (wanted: CaseKind) => shown.filter(({ kind }) => kind === wanted)
  return html`${[
    introduction(outcome),
    // The comment does not have the message of the run, because nobody masks secrets in a comment.
    outcome.run === undefined ? html`` : messageOfRun(outcome.run, outcome),
    paragraph(join(factsOf(outcome), DOT)),
    ...parts(notPassed.slice(0, FOLDABLE_CASES), areFew),
    table(fragment`More test cases that did not pass`, notPassed.slice(FOLDABLE_CASES)),
    ...lists.map(({ name, cases, limit }) => folded(name, cases, caseList(cases, limit))),
    folded(fragment`Flaky`, ofKind('flaky'), html`${parts(ofKind('flaky'), false)}`),
    table(fragment`Skipped`, ofKind('skipped')),
    table(fragment`Passed`, ofKind('passed')),
  ]}`
}

/** Nothing without test cases. */
function folded(name: Fragment, testCases: readonly unknown[], content: Html): Html {
  const count = testCases.length
  return count === 0 ? html`` : html`<details><summary>${name} (${count})</summary>\n${content}</details>\n`
}

const RUN_MESSAGE_CHARS = 2_000

/** The first line stands in a paragraph, which wraps, because it says why the run did not pass. The lines of the block do not wrap. */
function messageOfRun({ message, ...run }: Run, outcome: StepOutcome): Html {
  if (message === undefined) return html``
  const where = onNextLine(linkedPlace(run, outcome))
  const block = messageBlock(message, RUN_MESSAGE_CHARS)
  return html`<p>The message of the run: ${quote(firstLineOf(message), RUN_MESSAGE_CHARS)}${where}</p>${block}\n`
}

/** Which kinds of test cases a page does not show, how many, and which messages. Undefined if it shows everything. */
function leftOutText({ shown, leftOut, messages }: Page): Fragment | undefined {
  const counts = countTestCases(leftOut)
  const total = shown.length + leftOut.length
  const cases = fragment`${leftOut.length} of ${total} ${casesOf(total)}${inBrackets(countsOf(counts))}`
  const notPassed = shown.filter(isFailingOrOther)
  // If messages are whole, only the first FOLDABLE_CASES test cases show theirs.
  const lackMessage = messages === 'whole' ? notPassed.slice(FOLDABLE_CASES) : notPassed
  const count = lackMessage.filter(({ message }) => message !== undefined).length
  const ofMessages = fragment`the messages of ${count} ${casesOf(count)}`
  return join([leftOut.length > 0 ? cases : undefined, count > 0 ? ofMessages : undefined], fragment` and `)
}
