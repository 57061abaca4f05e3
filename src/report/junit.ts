import type { StepOutcome } from '../model/outcome.ts'
import { runDurationMs, type TestCase } from '../model/run.ts'
import { linesOf, render, untruncated, type Xml, xml } from '../text/safe-text.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { firstLineOf } from '../text/visible-text.ts'
import { titleOf } from './cases.ts'
import { endingText } from './ending.ts'
import { hasRunEntry, RUN_ENTRY } from './run-entry.ts'

// JUnit's XML has no standard. The usual programs all read this form: totals on both levels, one constant class name, a
// unique name for each test case, and text in each failure.

const NAME_LIMIT_CHARS = 900
const CLASS_NAME = xml`test-run`

export function junit(outcome: StepOutcome): Buffer {
  const testCases = outcome.run?.testCases ?? []
  const nameFor = uniqueNames()
  const hasEntry = hasRunEntry(outcome)
  const text = new LongText()
  text.add(opening(outcome, hasEntry ? 1 : 0))
  for (const testCase of testCases) text.add(caseElement(testCase, nameFor(titleOf(testCase, NAME_LIMIT_CHARS))))
  if (hasEntry) text.add(runElement(outcome, nameFor(untrusted(RUN_ENTRY))))
  text.add(xml`</testsuite>\n</testsuites>\n`)
  return text.toBuffer()
}

function opening({ run, counts, subject }: StepOutcome, runErrors: number): Xml {
  const { total, byKind, skipped, other } = counts
  const errors = byKind['timed-out'] + byKind.interrupted + runErrors
  const sumMs = () => run?.testCases?.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0)
  const ms = (run && runDurationMs(run)) ?? sumMs() ?? 0
  const totals = xml`tests="${total + runErrors}" failures="${byKind.failed}" errors="${errors}" skipped="${skipped + other}" time="${seconds(ms)}"`
  const name = subject.target.id
  const timestamp = run?.startedAt === undefined ? xml`` : xml` timestamp="${run.startedAt.toISOString().slice(0, 19)}"`
  return xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${name}" ${totals}>
<testsuite name="${name}" ${totals}${timestamp}>
`
}

function caseElement(testCase: TestCase, name: Untrusted): Xml {
  const time = seconds(testCase.durationMs ?? 0)
  return xml`<testcase classname="${CLASS_NAME}" name="${name}"${locationAttributes(testCase)} time="${time}"${contentOf(testCase)}`
}

function locationAttributes({ location }: TestCase): Xml {
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

function runElement(outcome: StepOutcome, name: Untrusted): Xml {
  const { rawStatus = '', message } = outcome.run ?? {}
  const summary = message === undefined ? rawStatus : firstLineOf(message)
  const reason = message === undefined ? xml`` : xml`\n${linesOf(message)}`
  return xml`<testcase classname="${CLASS_NAME}" name="${name}" time="0.000"><error message="${summary}" type="${rawStatus}">${endingText(outcome).sentences}${reason}</error></testcase>\n`
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
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
