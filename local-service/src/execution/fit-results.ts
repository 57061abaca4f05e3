import type { TestCase } from '../frameworks/report.ts'
import { cutMessage, SHORT_MESSAGE_CHARS } from '../reporters/report-writer.ts'

/** Clients may refuse a response that is larger than 16 MiB, as the gate does. The rest is for the other fields of a run. */
const RESULTS_LIMIT_BYTES = 15.5 * 1024 * 1024

/** The comma, and what the result of a test suite has besides: the number of the test. */
const AROUND_CASE_BYTES = 9

/** Titles get shorter in steps, so that a case keeps its title if the next run has some cases more or less. */
const TITLE_LIMITS_BYTES = [300, 200, 150, 120, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10]

const ELLIPSIS = '…'

/**
 * Leaves out of the test cases what does not fit into a response: first the places of cases that passed or were skipped, then messages, then
 * the middle of titles and all other places.
 */
export function fitResults(testCases: readonly TestCase[]): readonly TestCase[] {
  if (sizeOfAll(testCases) <= RESULTS_LIMIT_BYTES) return testCases
  const fewerPlaces = testCases.map((testCase) =>
    testCase.status === 'PASSED' || testCase.status === 'SKIPPED' ? withoutPlace(testCase) : testCase,
  )
  if (sizeOfAll(fewerPlaces) <= RESULTS_LIMIT_BYTES) return fewerPlaces
  const silent = fewerPlaces.map((testCase) => ({ ...testCase, message: undefined }))
  const room = RESULTS_LIMIT_BYTES - sizeOfAll(silent)
  if (room >= 0) return withMessages(fewerPlaces, room)
  const titles = silent.map(({ title }) => sizeOf(title))
  const ofOthers = sizeOfAll(silent.map(withoutPlace)) - titles.reduce((sum, size) => sum + size, 0)
  const sizeWith = (limit: number) => ofOthers + titles.reduce((sum, size) => sum + Math.min(size, limit), 0)
  const limit = TITLE_LIMITS_BYTES.find((one) => sizeWith(one) <= RESULTS_LIMIT_BYTES) ?? 0
  const short = fewerPlaces.map((testCase) => ({ ...withoutPlace(testCase), title: cutTitle(testCase.title, limit) }))
  return withMessages(short, RESULTS_LIMIT_BYTES - sizeWith(limit))
}

/** If the messages are too long for the room, those of later test cases are short. If that is not enough, the last have none. */
function withMessages(testCases: readonly TestCase[], roomBytes: number): readonly TestCase[] {
  let leftBytes = roomBytes
  return testCases.map((testCase) => {
    const { message: whole, ...others } = testCase
    if (whole === undefined) return testCase
    const message = leftBytes > RESULTS_LIMIT_BYTES / 4 ? whole : cutMessage(whole, SHORT_MESSAGE_CHARS)
    leftBytes -= sizeOf({ message })
    return leftBytes >= 0 ? { ...others, message } : others
  })
}

function withoutPlace({ filePath: _, line: __, ...others }: TestCase): TestCase {
  return others
}

/** Keeps the beginning, and more of the end, because the end is the name of the test. */
function cutTitle(title: string, limitBytes: number): string {
  let chars = title.length
  let cut = title
  for (let bytes = sizeOf(cut); bytes > limitBytes && chars > 0; bytes = sizeOf(cut)) {
    // In other scripts than the Latin one, a character has several bytes.
    chars = Math.min(chars - 1, Math.ceil((chars * limitBytes) / bytes))
    const beginning = Math.floor(chars / 3)
    // A cut must not divide a character.
    cut = [
      title.slice(0, beginning).replace(/[\uD800-\uDBFF]$/, ''),
      title.slice(beginning - chars).replace(/^[\uDC00-\uDFFF]/, ''),
    ].join(ELLIPSIS)
  }
  return cut
}

function sizeOfAll(testCases: readonly TestCase[]): number {
  return testCases.reduce((sum, testCase) => sum + sizeOf(testCase) + AROUND_CASE_BYTES, 0)
}

/** In a response. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
