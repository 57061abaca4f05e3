import type { StepOutcome } from '../model/outcome.ts'
import { CASE_KINDS, type CaseKind, countTestCases, RAN, type TestCase } from '../model/run.ts'
import { type Fragment, fragment, type Html, html } from '../text/safe-text.ts'
import { type CaseRow, type Columns, caseRow, caseTable, columnsFor } from './case-table.ts'
import { casesOfKind, FAILING_OR_OTHER } from './cases.ts'
import { subjectText } from './facts.ts'
import { introduction, messageOfRun, pageTitle, paragraph, sizeBytes } from './page.ts'
import { Room } from './room.ts'
import { casesOf, inBrackets, join, NONE } from './words.ts'

const ROW_LIMIT = 1000
/** How many of the test cases that did not pass are not folded. */
const OPEN_ROWS = 100
/** The first rows of the summary have messages, later rows do not. */
const ROWS_WITH_MESSAGE = 100
/** If a table has more rows, only the first line of each message is open. So twenty failures are a list that one can read. */
const ROWS_WITH_OPEN_MESSAGE = 5
const SLOWEST_SHOWN = 5
/** GitHub drops a summary over 1,048,576 bytes. The difference is more than the line breaks of 1,000 rows need on Windows. */
const SIZE_LIMIT_BYTES = 900_000
/** More than the headings of all tables and the last sentence need. */
const RESERVED_BYTES = 5_000

interface JobSummaryOptions {
  /** The size of what the step's summary file already contains. */
  readonly alreadyBytes: number
  readonly reportDir?: string | undefined
}

/** The summary with as many rows as fit. If the file has no room for a summary, only the headline. */
export function jobSummary(outcome: StepOutcome, { alreadyBytes, reportDir }: JobSummaryOptions): Html {
  // An earlier writer to this file may have left an HTML block open. An empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${heading(outcome)}`
  // The comment does not have the message of the run, because nobody masks secrets in a comment.
  const reason = outcome.run?.message === undefined ? html`` : messageOfRun(outcome.run.message)
  const beginning = html`${top}${introduction(outcome)}${reason}`
  const facts = paragraph(subjectText(outcome))

  const testCases = outcome.run?.testCases ?? []
  const columns = columnsFor(testCases, outcome)
  const slowest = slowestOf(testCases).map((testCase) => caseRow(testCase, 'title', columns))
  const lastTable = folded(fragment`Slowest`, slowest.length, slowest, columns)
  const ownBytes = sizeBytes(html`${beginning}${facts}${lastTable}`) + RESERVED_BYTES
  const leftBytes = SIZE_LIMIT_BYTES - alreadyBytes - ownBytes
  if (leftBytes < 0) return top

  const tables = sectionTables(outcome, new Room({ rows: ROW_LIMIT - slowest.length, bytes: leftBytes }), columns)
  const lastSentence = paragraph(leftOutText(tables, testCases.length, reportDir !== undefined))
  return html`${beginning}${facts}${tables.map(({ table }) => table)}${lastTable}${lastSentence}`
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

interface Section {
  /** If it is absent, the section is open. */
  readonly name?: Fragment
  readonly testCases: readonly TestCase[]
}

/** The first test cases that did not pass are open, all others are folded. Every test case is in one section. */
function sectionsOf(outcome: StepOutcome): Record<'notPassed' | 'others', readonly Section[]> {
  const notPassed = casesOfKind(FAILING_OR_OTHER, outcome)
  return {
    notPassed: [
      { testCases: notPassed.slice(0, OPEN_ROWS) },
      { name: fragment`More test cases that did not pass`, testCases: notPassed.slice(OPEN_ROWS) },
    ],
    others: [
      { name: fragment`Flaky`, testCases: casesOfKind(['flaky'], outcome) },
      { name: fragment`Skipped`, testCases: casesOfKind(['skipped'], outcome) },
      { name: fragment`Passed`, testCases: casesOfKind(['passed'], outcome) },
    ],
  }
}

/** Empty if there are so few test cases that the other tables show their times well enough. */
function slowestOf(testCases: readonly TestCase[]): readonly TestCase[] {
  const timed = testCases.filter(({ kind, durationMs }) => RAN.includes(kind) && durationMs !== undefined)
  if (timed.length <= SLOWEST_SHOWN) return []
  return timed.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0)).slice(0, SLOWEST_SHOWN)
}

interface SectionTable {
  readonly table: Html
  readonly casesLeftOut: readonly TestCase[]
  readonly messagesLeftOut: number
}

function sectionTables(outcome: StepOutcome, room: Room, columns: Columns): readonly SectionTable[] {
  let messagesLeft = ROWS_WITH_MESSAGE
  const withTitles = (section: Section) => ({
    ...section,
    titles: room.take(section.testCases, (testCase) => caseRow(testCase, 'place', columns)),
  })
  const tableOf = ({ name, testCases: ofSection, titles }: ReturnType<typeof withTitles>): SectionTable => {
    const detail = ofSection.length > ROWS_WITH_OPEN_MESSAGE ? 'folded message' : 'message'
    const wanted = ofSection.slice(0, Math.min(messagesLeft, titles.length))
    const withMessage = room.replace(titles, wanted, (testCase) => caseRow(testCase, detail, columns))
    messagesLeft = withMessage.length < wanted.length ? 0 : messagesLeft - wanted.length
    const rows = [...withMessage, ...titles.slice(withMessage.length)]
    const withoutMessage = ofSection
      .slice(withMessage.length, rows.length)
      .filter(({ message }) => message !== undefined)
    return {
      table: name === undefined ? open(rows, columns) : folded(name, ofSection.length, rows, columns),
      casesLeftOut: ofSection.slice(rows.length),
      messagesLeftOut: withoutMessage.length,
    }
  }
  // A long message must not take the room of the title of another failure.
  const { notPassed, others } = sectionsOf(outcome)
  const tables = notPassed.map(withTitles).map(tableOf)
  return [...tables, ...others.map((section) => tableOf(withTitles(section)))]
}

function open(rows: readonly CaseRow[], columns: Columns): Html {
  return rows.length === 0 ? html`` : caseTable(rows, columns)
}

/** A folded table. `rows` are the first of `all` test cases. */
function folded(name: Fragment, all: number, rows: readonly CaseRow[], columns: Columns): Html {
  if (rows.length === 0) return html``
  const count = rows.length < all ? fragment`${all}, the first ${rows.length} shown` : fragment`${all}`
  return html`<details><summary>${name} (${count})</summary>\n${caseTable(rows, columns)}</details>\n`
}

const WORDS: Readonly<Record<CaseKind, Fragment>> = {
  failed: fragment`failed`,
  'timed-out': fragment`timed out`,
  interrupted: fragment`interrupted`,
  other: fragment`without a known result`,
  flaky: fragment`flaky`,
  skipped: fragment`skipped`,
  passed: fragment`passed`,
}

/** Which kinds of test cases are not shown, and how many. Undefined if everything is shown. */
function leftOutText(tables: readonly SectionTable[], all: number, hasFiles: boolean): Fragment | undefined {
  const { total, byKind } = countTestCases(tables.flatMap(({ casesLeftOut }) => casesLeftOut))
  const kinds = CASE_KINDS.filter((kind) => byKind[kind] > 0).map((kind) => fragment`${byKind[kind]} ${WORDS[kind]}`)
  const messages = tables.reduce((sum, { messagesLeftOut }) => sum + messagesLeftOut, 0)
  const leftOut = [
    ...(total > 0 ? [fragment`${total} of ${all} ${casesOf(all)}${inBrackets(kinds)}`] : []),
    ...(messages > 0 ? [fragment`the messages of ${messages} ${casesOf(messages)}`] : []),
  ]
  if (leftOut.length === 0) return undefined
  const files = hasFiles ? fragment`, but the report file ${'junit.xml'} has everything` : NONE
  return fragment`This summary leaves out ${join(leftOut, fragment` and `)}${files}.`
}
