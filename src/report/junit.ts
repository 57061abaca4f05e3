import type { OutcomeWithRun } from '../model/outcome.ts'
import { countTestCases, runDurationMs, showsReason, type TestCase } from '../model/run.ts'
import { linesOf, render, untruncated, type Xml, xml } from '../text/safe-text.ts'
import { rawText, type Untrusted, untrusted } from '../text/untrusted.ts'
import { firstLineOf, oneLine } from '../text/visible-text.ts'
import { fileEntries } from './file-entries.ts'
import { titleOf } from './test-case.ts'

// JUnit's XML has no standard. The usual programs all read this form: totals on both levels, a name for each test case that
// is unique within its class name, and text in each failure. They keep the history of a test case by these two names. So both
// depend on the test case and its file only, and not on other files.

/** For test cases without a file, and for the run itself. */
const CLASS_NAME = untrusted('test-run')

export function junit(outcome: OutcomeWithRun): string {
  const entries = fileEntries(outcome)
  const nameFor = uniqueNames()
  const cases = entries.map((testCase) => render(caseElement(testCase, nameFor)))
  return `${render(opening(outcome, entries))}${cases.join('')}</testsuite>\n</testsuites>\n`
}

function opening({ run, subject }: OutcomeWithRun, entries: readonly TestCase[]): Xml {
  const { total, failed, timedOut, interrupted, skipped, other } = countTestCases(entries)
  const errors = timedOut + interrupted
  const ms = runDurationMs(run) ?? entries.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0)
  const totals = xml`tests="${total}" failures="${failed - errors}" errors="${errors}" skipped="${skipped + other}" time="${seconds(ms)}"`
  const name = subject.target.id
  const timestamp = run.startedAt === undefined ? xml`` : xml` timestamp="${run.startedAt.toISOString().slice(0, 19)}"`
  return xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${name}" ${totals}>
<testsuite name="${name}" ${totals}${timestamp}>
`
}

function caseElement(testCase: TestCase, nameFor: ReturnType<typeof uniqueNames>): Xml {
  const className = oneLine(testCase.filePath ?? CLASS_NAME)
  const name = nameFor(className, titleOf(testCase))
  const time = seconds(testCase.durationMs ?? 0)
  return xml`<testcase classname="${untruncated(className)}" name="${untruncated(name)}"${placeAttributes(testCase)} time="${time}"${restOfElement(testCase)}`
}

function placeAttributes(testCase: TestCase): Xml {
  const { filePath, line } = testCase
  if (filePath === undefined || !showsReason(testCase)) return xml``
  return xml` file="${untruncated(filePath)}"${line === undefined ? xml`` : xml` line="${line}"`}`
}

/** The end of the start tag, and what follows it. */
function restOfElement({ kind, rawStatus, message }: TestCase): Xml {
  if (kind === 'passed') return xml`/>\n`
  const summary = message === undefined ? rawStatus : firstLineOf(message)
  const reason =
    message === undefined ? xml`The service gave this test case the status ${rawStatus}.` : xml`${linesOf(message)}`
  switch (kind) {
    // The element of Maven Surefire (`rerunFailingTestsCount`). Programs that do not know it count the test case as passed.
    case 'flaky':
      return xml`><flakyFailure message="${summary}" type="${rawStatus}">${reason}</flakyFailure></testcase>\n`
    case 'failed':
      return xml`><failure message="${summary}" type="${rawStatus}">${reason}</failure></testcase>\n`
    case 'timed-out':
    case 'interrupted':
      return xml`><error message="${summary}" type="${rawStatus}">${reason}</error></testcase>\n`
    // JUnit has only this element for a test case that neither passed nor failed.
    case 'skipped':
    case 'other':
      return xml`><skipped message="${summary}"${message === undefined ? xml`/>` : xml`>${reason}</skipped>`}</testcase>\n`
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/** Numbers names that come again within a class: `a`, `a (2)`, `a (3)`. */
function uniqueNames() {
  /** Each entry is a class name, a line break, and a name in this class. */
  const takenNames = new Set<string>()
  /** The last number that was tried for a title. The next test case with this title begins behind it, because there may be thousands. */
  const lastNumbers = new Map<string, number>()
  return (className: Untrusted, title: Untrusted): Untrusted => {
    const inClass = (name: string | Untrusted) => `${rawText(className)}\n${rawText(name)}`
    let name = rawText(title)
    // A test case may have the title `a (2)` itself. Then the number 2 is taken, and the next one is tried.
    while (takenNames.has(inClass(name))) {
      const number = (lastNumbers.get(inClass(title)) ?? 1) + 1
      lastNumbers.set(inClass(title), number)
      name = `${rawText(title)} (${number})`
    }
    takenNames.add(inClass(name))
    return untrusted(name)
  }
}
