import type { ReadRunOutcome } from '../model/outcome.ts'
import { locationOf, runDurationMs, type TestCase } from '../model/run.ts'
import { linesOf, render, untruncated, type Xml, xml } from '../text/safe-text.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { firstLineOf, visibleText } from '../text/visible-text.ts'
import { titleOf } from './cases.ts'
import { verdictSentences } from './ending.ts'
import { hasRunEntry, RUN_ENTRY } from './run-entry.ts'

// JUnit's XML has no standard. The usual programs all read this form: totals on both levels, a name for each test case that
// is unique within its class name, and text in each failure. They keep the history of a test case by these two names. So both
// depend on the test case and its file only, and not on other files.

const NAME_LIMIT_CHARS = 900
/** For test cases without a file, and for the run itself. */
const CLASS_NAME = 'test-run'

export function junit(outcome: ReadRunOutcome): Buffer {
  const testCases = outcome.run.testCases ?? []
  const nameFor = namesByClass()
  const hasEntry = hasRunEntry(outcome)
  const text = new LongText()
  text.add(opening(outcome, hasEntry ? 1 : 0))
  for (const testCase of testCases) text.add(caseElement(testCase, nameFor))
  if (hasEntry) text.add(runElement(outcome, nameFor))
  text.add(xml`</testsuite>\n</testsuites>\n`)
  return text.toBuffer()
}

function opening({ run, counts, subject }: ReadRunOutcome, runErrors: number): Xml {
  const { total, byKind, skipped, other } = counts
  const errors = byKind['timed-out'] + byKind.interrupted + runErrors
  const sumMs = () => run.testCases?.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0)
  const ms = runDurationMs(run) ?? sumMs() ?? 0
  const totals = xml`tests="${total + runErrors}" failures="${byKind.failed}" errors="${errors}" skipped="${skipped + other}" time="${seconds(ms)}"`
  const name = subject.target.id
  const timestamp = run.startedAt === undefined ? xml`` : xml` timestamp="${run.startedAt.toISOString().slice(0, 19)}"`
  return xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${name}" ${totals}>
<testsuite name="${name}" ${totals}${timestamp}>
`
}

function caseElement(testCase: TestCase, nameFor: NameFor): Xml {
  const className = visibleText(testCase.filePath ?? CLASS_NAME)
  const name = nameFor(className, titleOf(testCase, NAME_LIMIT_CHARS))
  const time = seconds(testCase.durationMs ?? 0)
  return xml`<testcase classname="${untruncated(className)}" name="${name}"${locationAttributes(testCase)} time="${time}"${contentOf(testCase)}`
}

function locationAttributes(testCase: TestCase): Xml {
  const location = locationOf(testCase)
  if (location === undefined) return xml``
  const line = location.line === undefined ? xml`` : xml` line="${location.line}"`
  return xml` file="${untruncated(location.filePath)}"${line}`
}

function contentOf({ kind, rawStatus, message }: TestCase): Xml {
  const summary = message === undefined ? rawStatus : firstLineOf(message)
  const reason =
    message === undefined ? xml`The service gave this test case the status ${rawStatus}.` : xml`${linesOf(message)}`
  switch (kind) {
    case 'passed':
    case 'flaky':
      return xml`/>\n`
    case 'failed':
      return xml`><failure message="${summary}" type="${rawStatus}">${reason}</failure></testcase>\n`
    case 'timed-out':
    case 'interrupted':
      return xml`><error message="${summary}" type="${rawStatus}">${reason}</error></testcase>\n`
    // JUnit has only this element for a test case that neither passed nor failed.
    case 'skipped':
    case 'other':
      return xml`><skipped message="${rawStatus}"/></testcase>\n`
  }
}

function runElement(outcome: ReadRunOutcome, nameFor: NameFor): Xml {
  const name = nameFor(untrusted(CLASS_NAME), untrusted(RUN_ENTRY))
  const { rawStatus, message } = outcome.run
  const summary = message === undefined ? rawStatus : firstLineOf(message)
  const reason = message === undefined ? xml`` : xml`\n${linesOf(message)}`
  return xml`<testcase classname="${CLASS_NAME}" name="${name}" time="0.000"><error message="${summary}" type="${rawStatus}">${verdictSentences(outcome)}${reason}</error></testcase>\n`
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/** The name of a test case with this title. It is unique within its class name. */
type NameFor = (className: Untrusted, title: Untrusted) => Untrusted

function namesByClass(): NameFor {
  const byClass = new Map<string, (title: Untrusted) => Untrusted>()
  return (className, title) => {
    const nameFor = byClass.get(String(className)) ?? uniqueNames()
    byClass.set(String(className), nameFor)
    return nameFor(title)
  }
}

/** Numbers names that come again: `a`, `a (2)`, `a (3)`. */
function uniqueNames(): (title: Untrusted) => Untrusted {
  /** For each name that was given, the last number that was tried behind it. */
  const lastNumbers = new Map<string, number>()
  return (title) => {
    let name = String(title)
    // A test case may have the title `a (2)` itself. Then the number 2 is taken, and the next one is tried.
    while (lastNumbers.has(name)) {
      const number = (lastNumbers.get(String(title)) ?? 1) + 1
      lastNumbers.set(String(title), number)
      name = `${title} (${number})`
    }
    lastNumbers.set(name, 1)
    return untrusted(name)
  }
}

/** Parts become bytes early, because V8 keeps every part of a string that `+=` makes. */
class LongText {
  readonly #chunks: Buffer[] = []
  #tail = ''

  add(part: Xml): void {
    this.#tail += render(part)
    if (this.#tail.length > 65_536) this.#flush()
  }

  toBuffer(): Buffer {
    this.#flush()
    return Buffer.concat(this.#chunks)
  }

  #flush(): void {
    this.#chunks.push(Buffer.from(this.#tail))
    this.#tail = ''
  }
}
