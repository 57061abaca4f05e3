import { RAN, type TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { type Fragment, fragment, type Html, html, LongText, render } from '../text/safe-text.ts'
import { type CaseTable, casesWith, caseTable, messageBlock, NOT_PASSED } from './case-table.ts'
import { countsText, otherBranchWarning, subjectText, untestedText, withoutResult } from './facts.ts'
import { pageTitle } from './headline.ts'
import { explanation } from './verdict.ts'
import { casesOf } from './words.ts'

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

export function jobSummary(outcome: StepOutcome, { alreadyBytes, reportDir }: JobSummaryOptions): Html {
  const testCases = outcome.run?.testCases ?? []
  // The text before may have left an HTML block open. An empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${heading(outcome)}`
  const intro = introduction(outcome)
  const facts = paragraph(subjectText(outcome))
  const warning = (cases: number, messages: number) =>
    notAllShownWarning({ cases, messages, ofCases: testCases.length }, reportDir)

  const message = messageOfRun(outcome)
  const fixedBytes = sizeBytes(html`${top}${intro}${message}${warning(testCases.length, testCases.length)}${facts}`)
  const roomBytes = SIZE_LIMIT_BYTES - alreadyBytes - fixedBytes
  if (roomBytes < 0) {
    // If even the headline would exceed GitHub's limit, nothing is written, so that GitHub keeps what others wrote.
    const dropsOthers = alreadyBytes <= GITHUB_LIMIT_BYTES && alreadyBytes + sizeBytes(top) > GITHUB_LIMIT_BYTES
    return dropsOthers ? html`` : top
  }

  const table = caseTable(testCases)
  const { listed, slowest } = sectionsOf(testCases)
  // The slowest cases come last on the page. They are few, so they get their room first.
  const slowestRows = fitRows(slowest, table, { bytes: roomBytes, rows: ROW_LIMIT })
  const listedRows = fitRows(listed, table, {
    bytes: roomBytes - slowestRows.bytes,
    rows: ROW_LIMIT - slowestRows.rows,
  })
  // The messages get what the rows leave.
  const messages = fitMessages(table, roomBytes - slowestRows.bytes - listedRows.bytes)
  const tables = listedRows.sections.map((section) => sectionTable(section, table, messages.row))
  const lastTables = slowestRows.sections.map((section) => sectionTable(section, table, table.row))
  const notAllShown = warning(testCases.length - listedRows.rows, messages.leftOut())
  return html`${top}${intro}${message}${notAllShown}${facts}${tables}${lastTables}`
}

export function fullSummary(outcome: StepOutcome): Buffer {
  const testCases = outcome.run?.testCases ?? []
  const table = caseTable(testCases, 'whole')
  const { listed, slowest } = sectionsOf(testCases)
  const text = new LongText()
  const message = messageOfRun(outcome, 'whole')
  text.add(html`${heading(outcome)}${introduction(outcome)}${message}${paragraph(subjectText(outcome))}`)
  for (const section of [...listed, ...slowest]) {
    text.add(html`${sectionHead(section, section.testCases.length)}${table.head}`)
    for (const testCase of section.testCases) text.add(table.rowWithMessage(testCase))
    text.add(html`${table.foot}${sectionFoot(section)}`)
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
    paragraph(isPartial ? undefined : casesWithoutResult(outcome), INCOMPLETE),
    paragraph(otherBranchWarning(outcome), OTHER_BRANCH),
    paragraph(untested && untestedText(untested), OTHER_BRANCH),
  ]}`
}

const INCOMPLETE = html`⚠️ <b>Incomplete results:</b> `
const MAY_BE_INCOMPLETE = html`⚠️ <b>Results may be incomplete:</b> `
const OTHER_BRANCH = html`⚠️ <b>Other branch:</b> `

function casesWithoutResult(outcome: StepOutcome): Fragment | undefined {
  const count = withoutResult(outcome)
  const { total } = outcome.counts
  return count === 0 ? undefined : fragment`The service sent no result for ${count} of ${total} ${casesOf(total)}.`
}

/** The message of the run. The comment does not have it, because nobody masks secrets in a comment. */
function messageOfRun({ run }: StepOutcome, texts: 'truncated' | 'whole' = 'truncated'): Html {
  return run?.message === undefined ? html`` : html`<p>The message of the run:</p>${messageBlock(run.message, texts)}\n`
}

interface LeftOut {
  readonly cases: number
  readonly ofCases: number
  readonly messages: number
}

function notAllShownWarning({ cases, ofCases, messages }: LeftOut, reportDir: string | undefined): Html {
  if (cases === 0 && messages === 0) return html``
  const rows = cases === 0 ? html`` : html` ${cases} of ${ofCases} test cases ${isOrAre(cases)} left out here.`
  const count = messages === 1 ? html`The message of 1 test case` : html`The messages of ${messages} test cases`
  const texts = messages === 0 ? html`` : html` ${count} ${isOrAre(messages)} left out here.`
  const files = cases === 0 ? html`have all messages` : html`list all test cases`
  const where = reportDir === undefined ? html`` : html` The report files in ${reportDir} ${files}.`
  return html`<p>⚠️ <b>Not all shown:</b>${rows}${texts}${where}</p>\n`
}

function isOrAre(count: number): Html {
  return count === 1 ? html`is` : html`are`
}

function paragraph(text: Fragment | undefined, prefix = html``): Html {
  return text === undefined ? html`` : html`<p>${prefix}${text}</p>\n`
}

interface Section {
  /** If it is absent, the section is open. */
  readonly name?: Fragment
  readonly testCases: readonly TestCase[]
}

/** The first test cases that did not pass are open, all others are folded. `listed` contains every test case once. */
function sectionsOf(testCases: readonly TestCase[]): { listed: readonly Section[]; slowest: readonly Section[] } {
  const notPassed = casesWith(NOT_PASSED, testCases)
  const sections: Section[] = [
    { testCases: notPassed.slice(0, OPEN_ROWS) },
    { name: fragment`More test cases that did not pass`, testCases: notPassed.slice(OPEN_ROWS) },
    { name: fragment`Flaky`, testCases: casesWith(['flaky'], testCases) },
    { name: fragment`Skipped`, testCases: casesWith(['skipped'], testCases) },
    { name: fragment`Passed`, testCases: casesWith(['passed'], testCases) },
  ]
  const listed = sections.filter((section) => section.testCases.length > 0)
  const timed = testCases.filter(({ outcome, durationMs }) => RAN.includes(outcome) && durationMs !== undefined)
  // If there are so few, the table above shows their times well enough.
  if (timed.length <= SLOWEST_SHOWN) return { listed, slowest: [] }
  const byTime = timed.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0))
  // The tables above have their locations and messages.
  const slowest = byTime
    .slice(0, SLOWEST_SHOWN)
    .map((testCase) => ({ ...testCase, location: undefined, message: undefined }))
  return { listed, slowest: [{ name: fragment`Slowest`, testCases: slowest }] }
}

function sectionHead({ name, testCases }: Section, shown: number): Html {
  if (name === undefined) return html``
  const all = testCases.length
  const count = shown < all ? fragment`${all}, the first ${shown} shown` : fragment`${all}`
  return html`<details><summary>${name} (${count})</summary>\n`
}

function sectionFoot({ name }: Section): Html {
  return name === undefined ? html`` : html`</details>\n`
}

function sectionTable({ section, shown }: FittedSection, table: CaseTable, row: CaseTable['row']): Html {
  return html`${sectionHead(section, shown.length)}${table.head}${shown.map(row)}${table.foot}${sectionFoot(section)}`
}

interface Size {
  readonly bytes: number
  readonly rows: number
}

interface FittedSection {
  readonly section: Section
  readonly shown: readonly TestCase[]
}

/** As many rows as fit, and their size. If no row of a section fits, the section is left out. */
function fitRows(
  sections: readonly Section[],
  table: CaseTable,
  room: Size,
): Size & { readonly sections: readonly FittedSection[] } {
  let { bytes: leftBytes, rows: leftRows } = room
  const fitted: FittedSection[] = []
  for (const section of sections) {
    const { testCases } = section
    // The head is longest if it says that one row is missing.
    const head = sectionHead(section, testCases.length - 1)
    let bytes = sizeBytes(html`${head}${table.head}${table.foot}${sectionFoot(section)}`)
    const shown: TestCase[] = []
    for (const testCase of testCases.slice(0, leftRows)) {
      bytes += sizeBytes(table.row(testCase))
      if (bytes > leftBytes) break
      shown.push(testCase)
    }
    if (shown.length === 0) continue
    fitted.push({ section, shown })
    leftBytes -= sizeBytes(sectionTable({ section, shown }, table, table.row))
    leftRows -= shown.length
  }
  return { sections: fitted, bytes: room.bytes - leftBytes, rows: room.rows - leftRows }
}

/** Rows with messages, until a message does not fit. The rows after it have no messages. */
function fitMessages(table: CaseTable, roomBytes: number) {
  let leftBytes = roomBytes
  let leftOut = 0
  return {
    row(testCase: TestCase): Html {
      const plain = table.row(testCase)
      if (testCase.message === undefined) return plain
      const whole = table.rowWithMessage(testCase)
      leftBytes -= sizeBytes(whole) - sizeBytes(plain)
      if (leftBytes >= 0) return whole
      leftOut++
      return plain
    },
    leftOut: () => leftOut,
  }
}

export function sizeBytes(html: Html): number {
  return Buffer.byteLength(render(html))
}
