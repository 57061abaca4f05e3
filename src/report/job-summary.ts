import { isDoubtfulPass, type StepOutcome } from '../model/outcome.ts'
import { RAN, type TestCase } from '../model/run.ts'
import { type Fragment, fragment, type Html, html, render } from '../text/safe-text.ts'
import { type CaseTable, casesOfKind, caseTable, FAILING_OR_OTHER, messageBlock } from './case-table.ts'
import { countsText, otherBranchWarning, subjectText } from './facts.ts'
import { pageTitle } from './headline.ts'
import { verdictText } from './verdict-text.ts'
import { casesOf, join, NONE, nonZero } from './words.ts'

const ROW_LIMIT = 1000
/** The first rows that are not folded. Only these rows have messages. */
const OPEN_ROWS = 100
const SLOWEST_SHOWN = 5
/** GitHub drops a summary over 1,048,576 bytes. The difference is more than the line breaks of 1,000 rows need on Windows. */
const SIZE_LIMIT_BYTES = 900_000
/** More than the headings of all tables and the sentence about what is left out need. */
const RESERVED_BYTES = 5_000

interface JobSummaryOptions {
  /** The size of what the step's summary file already contains. */
  readonly alreadyBytes: number
  readonly reportDir?: string | undefined
}

/** Whether the run stopped early, so that results may be missing. */
function isIncomplete({ run, counts }: StepOutcome): boolean {
  return run !== undefined && counts.total > 0 && run.status !== 'PASSED' && run.status !== 'FAILED'
}

/** The summary with as many rows as fit. If the file has no room for a summary, only the headline. */
export function jobSummary(outcome: StepOutcome, { alreadyBytes, reportDir }: JobSummaryOptions): Html {
  // The text before may have left an HTML block open. An empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${heading(outcome)}`
  const beginning = html`${top}${introduction(outcome)}${messageOfRun(outcome)}`
  const facts = paragraph(subjectText(outcome))

  const testCases = outcome.run?.testCases ?? []
  const table = caseTable(testCases)
  const slowest = slowestOf(testCases)
  const lastTable = tables([slowest], table, slowest.testCases.map(table.row))
  const ownBytes = sizeBytes(html`${beginning}${facts}${lastTable}`) + RESERVED_BYTES
  const leftBytes = SIZE_LIMIT_BYTES - alreadyBytes - ownBytes
  if (leftBytes < 0) return top

  const sections = sectionsOf(testCases)
  const listed = sections.flatMap((section) => section.testCases).slice(0, ROW_LIMIT - slowest.testCases.length)
  const rows = firstThatFit(
    listed.map((testCase, index) => (index < OPEN_ROWS ? table.rowWithMessage(testCase) : table.row(testCase))),
    leftBytes,
  )
  const withoutMessage = listed.slice(OPEN_ROWS, rows.length).filter(({ message }) => message !== undefined)
  const warning = notAllShown(testCases.length - rows.length, withoutMessage.length, outcome, reportDir)
  return html`${beginning}${warning}${facts}${tables(sections, table, rows)}${lastTable}`
}

/** The first rows that have at most so many bytes together. */
export function firstThatFit(rows: readonly Html[], limitBytes: number): readonly Html[] {
  let bytes = 0
  const tooMany = rows.findIndex((row) => {
    bytes += sizeBytes(row)
    return bytes > limitBytes
  })
  return tooMany === -1 ? rows : rows.slice(0, tooMany)
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
  const verdict = isHeadlineEnough(outcome) ? undefined : verdictText(outcome, 'page')
  return html`${[
    paragraph(countsText(outcome)),
    paragraph(verdict, isPartial ? MAY_BE_INCOMPLETE : html``),
    paragraph(isPartial ? undefined : withoutResultText(outcome), INCOMPLETE),
    paragraph(otherBranchWarning(outcome), OTHER_BRANCH),
  ]}`
}

/** Whether the headline and the counts say everything: all is well, or test cases failed in a failed run. */
function isHeadlineEnough(outcome: StepOutcome): boolean {
  const { conclusion, counts, run } = outcome
  if (conclusion === 'passed') return !isDoubtfulPass(outcome)
  return conclusion === 'failed' && run?.status !== 'PASSED' && counts.failed > 0
}

const INCOMPLETE = html`⚠️ <b>Incomplete results:</b> `
const MAY_BE_INCOMPLETE = html`⚠️ <b>Results may be incomplete:</b> `
const NOT_ALL_SHOWN = html`⚠️ <b>Not all shown:</b> `
const OTHER_BRANCH = html`⚠️ <b>Other branch:</b> `

/** After a PASSED run, the verdict says this. */
function withoutResultText({ run, counts }: StepOutcome): Fragment | undefined {
  if (counts.other === 0 || run?.status === 'PASSED') return undefined
  return fragment`The action knows no result of ${counts.other} of ${counts.total} ${casesOf(counts.total)}.`
}

/** The message of the run. The comment does not have it, because nobody masks secrets in a comment. */
function messageOfRun({ run }: StepOutcome): Html {
  return run?.message === undefined ? html`` : html`<p>The message of the run:</p>${messageBlock(run.message)}\n`
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
  const notPassed = casesOfKind(FAILING_OR_OTHER, testCases)
  return [
    { testCases: notPassed.slice(0, OPEN_ROWS) },
    { name: fragment`More test cases that did not pass`, testCases: notPassed.slice(OPEN_ROWS) },
    { name: fragment`Flaky`, testCases: casesOfKind(['flaky'], testCases) },
    { name: fragment`Skipped`, testCases: casesOfKind(['skipped'], testCases) },
    { name: fragment`Passed`, testCases: casesOfKind(['passed'], testCases) },
  ]
}

/** Empty if there are so few test cases that the other tables show their times well enough. */
function slowestOf(testCases: readonly TestCase[]): Section {
  const timed = testCases.filter(({ kind, durationMs }) => RAN.includes(kind) && durationMs !== undefined)
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
    return shown.length === 0 ? html`` : tableOf(section, table, shown)
  })
}

function tableOf({ name, testCases }: Section, { head, foot }: CaseTable, shown: readonly Html[]): Html {
  if (name === undefined) return html`${head}${shown}${foot}`
  const all = testCases.length
  const count = shown.length < all ? fragment`${all}, the first ${shown.length} shown` : fragment`${all}`
  return html`<details><summary>${name} (${count})</summary>\n${head}${shown}${foot}</details>\n`
}

function sizeBytes(text: Html): number {
  return Buffer.byteLength(render(text))
}
