import { cutMessage } from '../reporters/report-writer.ts'
import type { Report, TestCase } from './report.ts'

/** Clients may refuse a response that is larger than 16 MiB, as the gate does. The other 0.5 MiB are for the other fields of a run. */
const RESULTS_LIMIT_BYTES = 15.5 * 1024 * 1024

/**
 * What a case needs at most beside its own JSON:
 * 1 for the comma behind it,
 * 3 for `testName` in place of `title`, in the result of a test suite,
 * 3 for `"testId":"150000",` in place of `,"durationMs":0`, there too.
 */
const AROUND_CASE_BYTES = 7

const SHORT_MESSAGE_CHARS = 500

/** Titles get shorter in steps, so that a case keeps its title if the next run has some cases more or less. */
const TITLE_LIMITS_BYTES = [300, 200, 150, 100, 80, 60, 50, 40, 30, 20, 10]

/**
 * Leaves out of the test cases what does not fit into a response: first the places of cases that passed or were skipped, then messages, then
 * the middle of titles and all other places.
 */
export function fitResults(report: Report, limitBytes = RESULTS_LIMIT_BYTES): Report {
  if (sizeOfAll(report.testCases) <= limitBytes) return report
  const isFine = ({ status }: TestCase) => status === 'PASSED' || status === 'SKIPPED'
  let testCases = report.testCases.map((testCase) => (isFine(testCase) ? withoutPlace(testCase) : testCase))
  const roomForMessages = () => limitBytes - sizeOfAll(testCases.map(withoutMessage))
  // Titles are cut only if the test cases do not even fit without messages.
  for (const titleBytes of TITLE_LIMITS_BYTES) {
    if (roomForMessages() >= 0) break
    testCases = testCases.map((one) => ({ ...withoutPlace(one), title: cutTitle(one.title, titleBytes) }))
  }
  return { ...report, testCases: withMessages(testCases, roomForMessages(), limitBytes / 4) }
}

function withoutPlace({ filePath: _, line: __, ...others }: TestCase): TestCase {
  return others
}

function withoutMessage({ message: _, ...others }: TestCase): TestCase {
  return others
}

/** Keeps the beginning, and more of the end, because the end is the name of the test. */
function cutTitle(title: string, limitBytes: number): string {
  let cut = title
  // In other scripts than the Latin one, a character has several bytes.
  for (let chars = Math.min(limitBytes, title.length); sizeOf(cut) > limitBytes; chars = Math.floor(chars * 0.9)) {
    const beginning = Math.floor(chars / 3)
    // A cut may divide a character.
    cut = `${title.slice(0, beginning)}…${title.slice(title.length - chars + beginning)}`.toWellFormed()
  }
  return cut
}

/** When little room is left, the messages of later test cases are short. When none is left, the last have none. */
function withMessages(testCases: readonly TestCase[], roomBytes: number, littleBytes: number): readonly TestCase[] {
  let leftBytes = roomBytes
  return testCases.map((testCase) => {
    if (testCase.message === undefined) return testCase
    const message = leftBytes > littleBytes ? testCase.message : cutMessage(testCase.message, SHORT_MESSAGE_CHARS)
    leftBytes -= sizeOf({ message })
    return leftBytes >= 0 ? { ...testCase, message } : withoutMessage(testCase)
  })
}

function sizeOfAll(testCases: readonly TestCase[]): number {
  return testCases.reduce((sum, testCase) => sum + sizeOf(testCase) + AROUND_CASE_BYTES, 0)
}

/** What a value takes in a response. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
