import type { StepOutcome } from '../outcome/step-outcome.ts'
import { type CaseTable, caseTable, hasDurations } from './case-table.ts'
import { cellHtml, type Html, html, render, untruncatedHtml } from './safe-text.ts'
import { sizeOnWindows } from './size-on-windows.ts'
import {
  countsLine,
  explanation,
  factsLine,
  headlineLine,
  incompleteWarning,
  notAllShownWarning,
} from './summary-head.ts'
import { type Section, sectionFoot, sectionHead, summarySections } from './summary-sections.ts'

const ROW_LIMIT = 1000
const SIZE_LIMIT_BYTES = 900_000
/** A summary over this GitHub drops whole, whoever wrote its other parts. */
const GITHUB_LIMIT_BYTES = 1_048_576

const ROWS_PER_CHUNK = 500

export interface JobSummaryOptions {
  /** What the step's summary file holds before this, each `\n` counted twice. */
  readonly alreadyBytes: number
  /** The folder of the report files, if they were written. */
  readonly reportDir?: string | undefined
}

/** The page that people look at, within what GitHub shows: it stops between rows, and says how many it left out. */
export function jobSummary(result: StepOutcome, { alreadyBytes }: JobSummaryOptions): Html {
  const testCases = result.run?.testCases ?? []
  const { counts } = result
  // Whatever stands there already may have left an HTML block open; an empty line closes it.
  const top = html`${alreadyBytes > 0 ? html`\n\n` : html``}${headlineLine(result, counts)}`
  const intro = html`${explanation(result, counts)}${countsLine(result, counts)}${incompleteWarning(result)}`
  const facts = factsLine(result)

  const warningBytes = sizeBytes(notAllShownWarning(testCases.length, testCases.length))
  const roomBytes = SIZE_LIMIT_BYTES - alreadyBytes - sizeBytes(html`${top}${intro}${facts}`) - warningBytes
  if (roomBytes < 0) {
    const leftBytes = GITHUB_LIMIT_BYTES - alreadyBytes
    // Where it is the headline that would make GitHub drop what others wrote, it stays away.
    return leftBytes >= 0 && sizeBytes(top) > leftBytes ? html`` : top
  }

  const table = caseTable(hasDurations(testCases), cellHtml)
  const sections = summarySections(testCases)
  // The slowest stand last, where they would be cut first, and are few: they get their room before the rest.
  const slowest = fitToBudget(sections.excerpts, table, { bytes: roomBytes, rows: ROW_LIMIT })
  const listed = fitToBudget(sections.listed, table, slowest.room)
  const left = testCases.length - (slowest.room.rows - listed.room.rows)
  const warning = left > 0 ? notAllShownWarning(left, testCases.length) : html``
  return html`${top}${intro}${warning}${facts}${listed.tables}${slowest.tables}`
}

/** The same page with every row, for a file: in chunks, so that a hundred thousand rows never stand in memory. */
export function* fullSummary(result: StepOutcome): Iterable<string> {
  const testCases = result.run?.testCases ?? []
  const { counts } = result
  yield render(
    html`${headlineLine(result, counts)}${explanation(result, counts)}${countsLine(result, counts)}${incompleteWarning(result)}${factsLine(result)}`,
  )
  const table = caseTable(hasDurations(testCases), untruncatedHtml)
  const { listed, excerpts } = summarySections(testCases)
  for (const section of [...listed, ...excerpts]) {
    const cases = section.testCases
    yield render(html`${sectionHead(section, cases.length)}${table.head}`)
    for (let start = 0; start < cases.length; start += ROWS_PER_CHUNK) {
      yield render(html`${cases.slice(start, start + ROWS_PER_CHUNK).map(table.row)}`)
    }
    yield render(html`${table.foot}${sectionFoot(section)}`)
  }
}

interface Room {
  readonly bytes: number
  readonly rows: number
}

/** As many rows as there is room for. A section of which not one fits is left out whole. */
function fitToBudget(
  sections: readonly Section[],
  table: CaseTable,
  room: Room,
): { tables: readonly Html[]; room: Room } {
  let { bytes, rows } = room
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
  return { tables, room: { bytes, rows } }
}

function sizeBytes(html: Html): number {
  return sizeOnWindows(Buffer.from(render(html)))
}
