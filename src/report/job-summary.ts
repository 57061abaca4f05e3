import type { TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { type Fragment, fragment, type Html, html, type LogLine, LongText, render } from '../text/safe-text.ts'
import { type CaseTable, casesWith, caseTable, NOT_PASSED, RAN } from './case-table.ts'
import { countsText, explanation, factsText, isIncomplete, pageTitle } from './outcome-text.ts'

const ROW_LIMIT = 1000
const OPEN_ROWS = 100
const SLOWEST_SHOWN = 5
const SIZE_LIMIT_BYTES = 900_000
/** GitHub drops a larger summary whole, whoever wrote its other parts. */
const GITHUB_LIMIT_BYTES = 1_048_576

export interface JobSummaryOptions {
  /** What the step's summary file holds already, each `\n` counted twice. */
  readonly alreadyBytes: number
  readonly reportDir?: string | undefined
}

export function jobSummary(outcome: StepOutcome, { alreadyBytes, reportDir }: JobSummaryOptions): Html {
  const testCases = outcome.run?.testCases ?? []
  // Whatever is there already may have left an HTML block open; an empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${heading(outcome)}`
  const intro = introduction(outcome)
  const facts = paragraph(factsText(outcome))

  const warningBytes = sizeBytes(notAllShownWarning(testCases.length, testCases.length, reportDir))
  const budgetBytes = SIZE_LIMIT_BYTES - alreadyBytes - sizeBytes(html`${top}${intro}${facts}`) - warningBytes
  if (budgetBytes < 0) {
    const leftBytes = GITHUB_LIMIT_BYTES - alreadyBytes
    // If the headline is what would make GitHub drop what others wrote, it is left out.
    return leftBytes >= 0 && sizeBytes(top) > leftBytes ? html`` : top
  }

  const table = caseTable(testCases)
  const { listed, slowest } = sectionsOf(testCases)
  // The slowest stand last, where they would be left out first, and are few: their rows are reserved before the rest.
  const last = fitToBudget(slowest, table, { bytes: budgetBytes, rows: ROW_LIMIT })
  const main = fitToBudget(listed, table, last.budget)
  const left = testCases.length - (last.budget.rows - main.budget.rows)
  const warning = left > 0 ? notAllShownWarning(left, testCases.length, reportDir) : html``
  return html`${top}${intro}${warning}${facts}${main.tables}${last.tables}`
}

export function fullSummary(outcome: StepOutcome): Buffer {
  const testCases = outcome.run?.testCases ?? []
  const table = caseTable(testCases, 'whole')
  const { listed, slowest } = sectionsOf(testCases)
  const text = new LongText()
  text.add(html`${heading(outcome)}${introduction(outcome)}${paragraph(factsText(outcome))}`)
  for (const section of [...listed, ...slowest]) {
    text.add(html`${sectionHead(section, section.testCases.length)}${table.head}`)
    for (const testCase of section.testCases) text.add(table.row(testCase))
    text.add(html`${table.foot}${sectionFoot(section)}`)
  }
  return text.toBuffer()
}

export function invalidInputsSummary(messages: readonly LogLine[]): Html {
  const items = messages.map((message) => html`<li>${message}</li>\n`)
  return html`## ❌ Invalid inputs\n<p>Nothing was requested from the service.</p>\n<ul>\n${items}</ul>\n`
}

/** Of these Markdown makes nothing but text, not even a link; GitHub looks for nothing in `<code>`. */
const PLAIN_WORDS = /^[A-Za-z0-9][A-Za-z0-9 ,-]{0,99}$/

/** Markdown; HTML if it holds a value of the matrix that Markdown could take for more than text. */
function heading(outcome: StepOutcome): Html {
  const title = pageTitle(outcome)
  return outcome.subject.labels.every((part) => PLAIN_WORDS.test(part))
    ? html`## ${title}\n`
    : html`<h2>${title}</h2>\n`
}

export function introduction(outcome: StepOutcome): Html {
  const isPartial = isIncomplete(outcome)
  const about = paragraph(explanation(outcome), isPartial ? INCOMPLETE : html``)
  // If no test ran, the explanation says so.
  const isSaid = isPartial || outcome.conclusion === 'no-tests'
  const cases = paragraph(isSaid ? undefined : casesWithoutResult(outcome), INCOMPLETE)
  return html`${paragraph(countsText(outcome))}${about}${cases}${paragraph(untestedText(outcome), OTHER_BRANCH)}`
}

const INCOMPLETE = html`⚠️ <b>Incomplete:</b> `
const OTHER_BRANCH = html`⚠️ <b>Other branch:</b> `

function casesWithoutResult({ counts: { other, total } }: StepOutcome): Fragment | undefined {
  if (other === 0) return undefined
  return fragment`${other} of ${total} test cases ${other === 1 ? fragment`has` : fragment`have`} no result.`
}

function untestedText({ subject: { untested } }: StepOutcome): Fragment | undefined {
  return (
    untested && fragment`The input ${'branch'} is empty: the project's default branch is tested, and not ${untested}.`
  )
}

function notAllShownWarning(left: number, total: number, reportDir: string | undefined): Html {
  const where = reportDir === undefined ? html`` : html` The report files in ${reportDir} list all of them.`
  return html`<p>⚠️ <b>Not all shown:</b> ${left} of ${total} test cases are left out here.${where}</p>\n`
}

function paragraph(text: Fragment | undefined, prefix = html``): Html {
  return text === undefined ? html`` : html`<p>${prefix}${text}</p>\n`
}

interface Section {
  /** Absent: the section is open. */
  readonly name?: Fragment
  readonly testCases: readonly TestCase[]
}

/** What did not pass is open, up to what a page can take; all else is folded. `listed` holds every test case once. */
function sectionsOf(testCases: readonly TestCase[]): { listed: readonly Section[]; slowest: readonly Section[] } {
  const notPassed = casesWith(NOT_PASSED, testCases)
  const sections: Section[] = [
    { testCases: notPassed.slice(0, OPEN_ROWS) },
    { name: fragment`More that did not pass`, testCases: notPassed.slice(OPEN_ROWS) },
    { name: fragment`Flaky`, testCases: casesWith(['flaky'], testCases) },
    { name: fragment`Skipped`, testCases: casesWith(['skipped'], testCases) },
    { name: fragment`Passed`, testCases: casesWith(['passed'], testCases) },
  ]
  const listed = sections.filter((section) => section.testCases.length > 0)
  const timed = testCases.filter(({ outcome, durationMs }) => RAN.includes(outcome) && durationMs !== undefined)
  // Of fewer, the table above shows the times at a glance.
  if (timed.length <= SLOWEST_SHOWN) return { listed, slowest: [] }
  const byTime = timed.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0))
  return { listed, slowest: [{ name: fragment`Slowest`, testCases: byTime.slice(0, SLOWEST_SHOWN) }] }
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

interface Budget {
  readonly bytes: number
  readonly rows: number
}

/** As many rows as the budget allows. A section of which not one fits is left out whole. */
function fitToBudget(
  sections: readonly Section[],
  table: CaseTable,
  budget: Budget,
): { tables: readonly Html[]; budget: Budget } {
  let { bytes, rows } = budget
  const tables: Html[] = []
  for (const section of sections) {
    const { testCases } = section
    const foot = html`${table.foot}${sectionFoot(section)}`
    let left = bytes - sizeBytes(html`${sectionHead(section, testCases.length - 1)}${table.head}${foot}`)
    const fitting: Html[] = []
    for (const testCase of testCases.slice(0, rows)) {
      const row = table.row(testCase)
      left -= sizeBytes(row)
      if (left < 0) break
      fitting.push(row)
    }
    if (fitting.length === 0) continue
    const whole = html`${sectionHead(section, fitting.length)}${table.head}${fitting}${foot}`
    tables.push(whole)
    bytes -= sizeBytes(whole)
    rows -= fitting.length
  }
  return { tables, budget: { bytes, rows } }
}

function sizeBytes(html: Html): number {
  return sizeOnWindows(Buffer.from(render(html)))
}

const LINE_FEED = 0x0a

/** The size in bytes with each line end as two, which it becomes on Windows after GitHub has measured it. */
export function sizeOnWindows(text: Buffer): number {
  let size = text.length
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) size++
  return size
}
