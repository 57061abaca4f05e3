import { withoutFrames } from './junit-case.ts'
import { isBad, type TestCase } from './report.ts'

// What test tools print about failures of which their JUnit files have no test case, or no reason.

/** The groups `title` and `file` name what failed. */
const PARTS: readonly RegExp[] = [
  // Node: a file that crashed, a test, and a threshold.
  /^(?:file:\/\/)?(?<file>\/\S+):\d+\n(?:(?!Node\.js v).*\n)*?(?=\nNode\.js v)/gm,
  /^test at \S+:\d+:\d+\n✖ (?!.* # TODO$)(?<title>.*?)(?: \([\d.]+ms\))?\n(?! {2}'test failed')(?: {2}.*\n?)*/gm,
  /^ℹ Error: .*/gm,
  // Jest: a file, and a threshold with the summary behind it.
  /^FAIL (?:.* )?(?:\.\/)?(?<file>\S+)(?: \([\d.]+ m?s\))?\n {2}● Test suite failed to run\n(?:\n| {4}.*\n)*/gm,
  /^Jest: (?:.*\n?)*/gm,
  // Mocha: a file.
  /^ ?Exception during run: (?:.*\n?)*/gm,
  // gotestsum: what could not be built.
  /(?<=^=== Errors\n)(?:.+\n)+/gm,
  // RSpec
  /^An error occurred (?:.*\n)+?# .*/gm,
  // CTest
  /^Unable to find executable: .*/gm,
  /^\t *\d+ - (?<title>.*) \((?!Failed|Disabled|Skipped)\w[\w ]*\)$/gm,
  // pytest and its plug-ins
  /^(?:ERROR:|FAIL) (?:.*\n\S+: error: |Required test coverage |(?:file or directory )?not found: ).*/gm,
]

/** The parts that no failed test case with a place explains. */
export function findToolLines(output: string, testCases: readonly TestCase[]): string[] {
  const failed = testCases.filter((testCase) => isBad(testCase) && testCase.line !== undefined)
  const isKnown = ({ title, file }: Readonly<Partial<Record<string, string>>>) =>
    failed.some((known) =>
      file === undefined ? ` > ${known.title}`.endsWith(` > ${title}`) : `/${file}`.endsWith(`/${known.filePath}`),
    )
  const found = PARTS.flatMap((part) => [...output.matchAll(part)])
  return [...new Set(found.filter(({ groups = {} }) => !isKnown(groups)).map(([text]) => withReasonFirst(text)))]
}

/** Readers show only the first line. So it has the name and the reason, and the place comes last. */
function withReasonFirst(text: string): string {
  return withoutFrames(text)
    .replace(/^(test at [^\n]*)\n(✖ [^\n]*?)(?: \([\d.]+ms\))?\n\s*(.*?)\s*$/s, '$2: $3\n$1')
    .replace(/^(\S+:\d+)\n(?:[^\n]+\n)+\n(.*?)\s*$/s, '$2\nat $1')
    .replace(
      /\n\s*● Test suite failed to run\s*\n\s*(?:Jest encountered an unexpected token\n[\s\S]*?\n\s*Details:\s*\n\s*)?/,
      ': ',
    )
    .trim()
}
