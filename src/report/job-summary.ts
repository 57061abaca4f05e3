import { RAN, type TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { type Fragment, fragment, type Html, html, LongText, render } from '../text/safe-text.ts'
import { type CaseTable, casesWith, caseTable, messageBlock, NOT_PASSED } from './case-table.ts'
import { countsText, otherBranchWarning, subjectText, untestedText, withoutResult } from './facts.ts'
import { pageTitle } from './headline.ts'
import { explanation } from './verdict.ts'
import { casesOf, join, NONE, nonZero } from './words.ts'

const ROW_LIMIT = 1000
const OPEN_ROWS = 100
const SLOWEST_SHOWN = 5
const SIZE_LIMIT_BYTES = 900_000
/** If the step's summary is larger, GitHub drops all of it, whoever wrote its parts. */
const GITHUB_LIMIT_BYTES = 1_048_576

interface JobSummaryOptions {
  /** The size of what the step's summary file already contains. */
  readonly alreadyBytes: number
  readonly reportDir?: string | undefined
}

/** Whether the run stopped early, so that results may be missing. */
function isIncomplete({ run, counts }: StepOutcome): boolean {
  return run !== undefined && counts.total > 0 && run.status !== 'PASSED' && run.status !== 'FAILED'
}

/** The summary with as many rows as fit, and then with as many messages as fit. */
export function jobSummary(outcome: StepOutcome, { alreadyBytes, reportDir }: JobSummaryOptions): Html {
  // The text before may have left an HTML block open. An empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${heading(outcome)}`
  const beginning = html`${top}${introduction(outcome)}${messageOfRun(outcome)}`
  const facts = paragraph(subjectText(outcome))

  const testCases = outcome.run?.testCases ?? []
  const table = caseTable(testCases)
  const sections = sectionsOf(testCases)
  const slowest = slowestOf(testCases)
  const lastTable = tables([slowest], table, slowest.testCases.map(table.row))
  const listed = sections.flatMap((section) => section.testCases).slice(0, ROW_LIMIT - slowest.testCases.length)
  const rows = listed.map(table.row)
  const rowsWithMessage = listed.map(table.rowWithMessage)

  const page = (rowCount: number, messageCount: number) => {
    const shown = [...rowsWithMessage.slice(0, messageCount), ...rows.slice(messageCount, rowCount)]
    const withoutMessage = listed.slice(messageCount, rowCount).filter(({ message }) => message !== undefined)
    const warning = notAllShown(testCases.length - rowCount, withoutMessage.length, outcome, reportDir)
    return html`${beginning}${warning}${facts}${tables(sections, table, shown)}${lastTable}`
  }
  const fits = (text: Html) => alreadyBytes + sizeBytes(text) <= SIZE_LIMIT_BYTES
  if (fits(page(0, 0))) {
    const rowCount = largestThatFits(listed.length, (count) => fits(page(count, 0)))
    const messageCount = largestThatFits(rowCount, (count) => fits(page(rowCount, count)))
    return page(rowCount, messageCount)
  }
  // If the headline itself would exceed GitHub's limit, nothing is written, so that GitHub keeps what others wrote. If
  // others have exceeded the limit already, the headline does no harm.
  const dropsOthers = alreadyBytes <= GITHUB_LIMIT_BYTES && alreadyBytes + sizeBytes(top) > GITHUB_LIMIT_BYTES
  return dropsOthers ? html`` : top
}

/** The largest count up to the limit that fits. Zero must fit. */
export function largestThatFits(limit: number, fits: (count: number) => boolean): number {
  if (fits(limit)) return limit
  let fitting = 0
  let tooLarge = limit
  while (tooLarge - fitting > 1) {
    const middle = Math.floor((fitting + tooLarge) / 2)
    if (fits(middle)) fitting = middle
    else tooLarge = middle
  }
  return fitting
}

export function fullSummary(outcome: StepOutcome): Buffer {
  const testCases = outcome.run?.testCases ?? []
  const table = caseTable(testCases, 'whole')
  const text = new LongText()
  const message = messageOfRun(outcome, 'whole')
  text.add(html`${heading(outcome)}${introduction(outcome)}${message}${paragraph(subjectText(outcome))}`)
  for (const section of [...sectionsOf(testCases), slowestOf(testCases)]) {
    const { start, end } = frameOf(section, table, section.testCases.length)
    text.add(start)
    for (const testCase of section.testCases) text.add(table.rowWithMessage(testCase))
    text.add(end)
  }
  return text.toBuffer()
}

export function invalidInputsSummary(messages: readonly Fragment[]): Html {
  const items = messages.map((message) => html`<li>${message}</li>\n`)
  return html`## ❌ Invalid inputs\n<p>Nothing was requested from the service.</p>\n<ul>\n${items}</ul>\n`
}

/** The heading is Markdown. If it contains a value, it is HTML, because Markdown could interpret the value. */
function heading(outcome: StepOutcome): Html {
  const title = pageTitle(outcome)
  return outcome.subject.labels.length === 0 ? html`## ${title}\n` : html`<h2>${title}</h2>\n`
}

export function introduction(outcome: StepOutcome): Html {
  const isPartial = isIncomplete(outcome)
  const { untested } = outcome.subject
  return html`${[
    paragraph(countsText(outcome)),
    paragraph(explanation(outcome), isPartial ? MAY_BE_INCOMPLETE : html``),
    paragraph(isPartial ? undefined : withoutResultText(outcome), INCOMPLETE),
    paragraph(otherBranchWarning(outcome), OTHER_BRANCH),
    paragraph(untested && untestedText(untested), OTHER_BRANCH),
  ]}`
}

const INCOMPLETE = html`⚠️ <b>Incomplete results:</b> `
const MAY_BE_INCOMPLETE = html`⚠️ <b>Results may be incomplete:</b> `
const NOT_ALL_SHOWN = html`⚠️ <b>Not all shown:</b> `
const OTHER_BRANCH = html`⚠️ <b>Other branch:</b> `

function withoutResultText(outcome: StepOutcome): Fragment | undefined {
  const count = withoutResult(outcome)
  const { total } = outcome.counts
  return count === 0
    ? undefined
    : fragment`This version of the action knows no result of ${count} of ${total} ${casesOf(total)}.`
}

/** The message of the run. The comment does not have it, because nobody masks secrets in a comment. */
function messageOfRun({ run }: StepOutcome, texts: 'truncated' | 'whole' = 'truncated'): Html {
  return run?.message === undefined ? html`` : html`<p>The message of the run:</p>${messageBlock(run.message, texts)}\n`
}

function notAllShown(rows: number, messages: number, { counts }: StepOutcome, reportDir: string | undefined): Html {
  const leftOut = [
    ...nonZero(rows, fragment`of ${counts.total} ${casesOf(counts.total)}`),
    ...(messages > 0 ? [fragment`the messages of ${messages} ${casesOf(messages)}`] : []),
  ]
  if (leftOut.length === 0) return html``
  const files = reportDir === undefined ? NONE : fragment` The report files in ${reportDir} contain everything.`
  return paragraph(fragment`This summary leaves out ${join(leftOut, fragment` and `)}.${files}`, NOT_ALL_SHOWN)
}

function paragraph(text: Fragment | undefined, prefix = html``): Html {
  return text === undefined ? html`` : html`<p>${prefix}${text}</p>\n`
}

interface Section {
  /** If it is absent, the section is open. */
  readonly name?: Fragment
  readonly testCases: readonly TestCase[]
}

/** The first test cases that did not pass are open, all others are folded. Every test case is in one section. */
function sectionsOf(testCases: readonly TestCase[]): readonly Section[] {
  const notPassed = casesWith(NOT_PASSED, testCases)
  return [
    { testCases: notPassed.slice(0, OPEN_ROWS) },
    { name: fragment`More test cases that did not pass`, testCases: notPassed.slice(OPEN_ROWS) },
    { name: fragment`Flaky`, testCases: casesWith(['flaky'], testCases) },
    { name: fragment`Skipped`, testCases: casesWith(['skipped'], testCases) },
    { name: fragment`Passed`, testCases: casesWith(['passed'], testCases) },
  ]
}

/** Empty if there are so few test cases that the other tables show their times well enough. */
function slowestOf(testCases: readonly TestCase[]): Section {
  const timed = testCases.filter(({ outcome, durationMs }) => RAN.includes(outcome) && durationMs !== undefined)
  const byTime = timed.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0))
  // The other tables have their locations and messages.
  const slowest = byTime
    .slice(0, SLOWEST_SHOWN)
    .map((testCase) => ({ ...testCase, location: undefined, message: undefined }))
  return { name: fragment`Slowest`, testCases: timed.length > SLOWEST_SHOWN ? slowest : [] }
}

/** The tables of the sections. `rows` are the first rows of all sections together. */
function tables(sections: readonly Section[], table: CaseTable, rows: readonly Html[]): readonly Html[] {
  let from = 0
  return sections.map((section) => {
    const shown = rows.slice(from, from + section.testCases.length)
    from += section.testCases.length
    const { start, end } = frameOf(section, table, shown.length)
    return html`${start}${shown}${end}`
  })
}

/** What is before and after the rows of a section. A section without rows is left out. */
function frameOf({ name, testCases }: Section, table: CaseTable, shown: number): { start: Html; end: Html } {
  if (shown === 0) return { start: html``, end: html`` }
  if (name === undefined) return { start: table.head, end: table.foot }
  const all = testCases.length
  const count = shown < all ? fragment`${all}, the first ${shown} shown` : fragment`${all}`
  return {
    start: html`<details><summary>${name} (${count})</summary>\n${table.head}`,
    end: html`${table.foot}</details>\n`,
  }
}

export function sizeBytes(text: Html): number {
  return Buffer.byteLength(render(text))
}
