import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import type { Result } from './junit-case.ts'
import type { XmlElement } from './junit-xml.ts'
import { isBad, QUOTED_LINES, type TestCase } from './report.ts'

// Why a test of a JUnit report did not pass. Readers show only the first line of a reason. So it says what is wrong.

export function reasonOf(found: XmlElement, { status, outcomes }: Result): string {
  if (status === 'PASSED') return ''
  const texts = outcomes.map(textOf).filter((text) => text !== '')
  if (status === 'SKIPPED') return texts.filter((text) => !EMPTY_SKIP.test(text)).join('\n\n')
  const suiteOutput = texts.some((text) => BAZEL.test(text)) ? endOf(found.parent?.output ?? '') : ''
  const { type = '', message = '' } = outcomes[0]?.attributes ?? {}
  // Bazel has the reason in the output of the suite, most tools have it in the texts, and CTest has only the output of the test. A message that says
  // nothing, such as `failed`, is no text, but better than no reason.
  return suiteOutput || texts.join('\n\n') || endOf(found.output) || type || message
}

/** Reasons of Node and Bun that say nothing. */
const EMPTY_SKIP = /^(?:true|todo)$/i
/** Bazel says it if the program of the test writes no report. */
const BAZEL = /^exited with error code \d+$/

function endOf(output: string): string {
  return withoutTerminalSequences(output).trim().split('\n').slice(-QUOTED_LINES).join('\n')
}

/** Messages of gotestsum, Swift, pytest, nose2, behave, doctest and Boost that say nothing. */
const EMPTY_MESSAGE = /^(?:failed|(?:build |collection |test )?(?:failure|error)|exception|none)?$/i

/** The message of the attribute comes first, unless the text begins with it. */
function textOf({ attributes: { message = '' }, text }: XmlElement): string {
  const clean = (one: string) => withoutTerminalSequences(one).replaceAll('\r\n', '\n').trim()
  const [given, all] = [clean(message), clean(text)]
  // In the text of pytest, and in the last traceback of Python, the error is at the end.
  const tracebacks = all.matchAll(/^Traceback .*\n(?:[ \t].*\n)+(\S.*)/gm)
  const [, error = ''] = /^E {3}(\S.*)/m.exec(all) ?? [...tracebacks].at(-1) ?? []
  const said = EMPTY_MESSAGE.test(given) ? error : given
  // The text may begin with the message, with the class of the error before it, or, in Rust, with the number of the thread in it.
  const begins = [all, all.replace(/^[\w.$]+(?: \[\w+\])?: /, ''), all.replace(/^(thread '.*') \(\d+\)/, '$1')]
  if (said === '' || begins.some((one) => one.startsWith(said))) return withReasonFirst(all)
  return withReasonFirst(`${said}\n\n${all}`)
}

/** What is replaced, one entry after the other, so that a text begins with the reason. A place goes behind the reason. */
const BEFORE_THE_REASON: readonly (readonly [RegExp, string])[] = [
  // Node, a test: "test at a.js:3:1", "✖ pays (1.2ms)", "  Error: no money". Then the reason begins with "✖ pays: Error: no money".
  [/^(?<place>test at .*)\n(?<test>✖ .*?)(?: \([\d.]+ms\))?\n\s*(?<reason>[\s\S]+)$/, '$<test>: $<reason>\n$<place>'],
  // Node, a file that throws: "file:///shop/a.js:3", "throw new Error()", "^", "", "Error: no money". If it cannot be loaded: "node:internal/modules:3"
  [/^(?<place>\S+:\d+)\n(?:.+\n)*? *\^+\n\n(?<reason>[\s\S]+)$/, '$<reason>\nat $<place>'],
  // Jest, a file: "● Test suite failed to run", "", "Jest encountered an unexpected token", advice, "Details:", "", "SyntaxError: no money"
  [/● Test suite failed to run\s*\n\s*(?:Jest encountered an unexpected token\n[\s\S]*?\n\s*Details:\s*\n\s*)?/, ''],
  // Bun, a file: "# Unhandled error between tests", "-----", "3 | pay()", "    ^", "error: no money"
  [/^# Unhandled error between tests\n-+\n(?:.*\n)*?(?=.*error: )/i, ''],
  // Go: "=== RUN   TestA", "--- FAIL: TestA (0.00s)", "    a_test.go:4: no money"
  [/^(?:\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- FAIL:) .*\n)+(?=.*\S)/, ''],
  // Only a headline. Catch2: "FAILED:". GoogleTest: "unknown file". TAP: "---". PHPUnit: "Shop\CartTest::testPays".
  [/^(?:FAILED:\s*|unknown file|---|[A-Z][\w\\]*::\w+(?: with data set .*)?)\n/, ''],
  // Bats: "(in test file a.bats, line 3)", "  `pay' failed"
  [/^(?<place>\((?:from function|in) [\s\S]*? line \d+\))\n\s*(?<reason>[\s\S]+)$/, '$<reason>\n$<place>'],
  // Testify: "a_test.go:4:", "  Error Trace:  a_test.go:4", "  Error:  Not equal:"
  [/^(?<place>\S+\.go:\d+:[ \t]*\n)\s*Error Trace:[\s\S]*?\n[ \t]*Error:\s*/, '$<place>'],
  // Rust: "thread 'main' (7) panicked at src/a.rs:7:9:", "no money"
  [/^thread '.*' (?:\(\d+\) )?panicked at (?=\S+\.\w+:\d)/, ''],
  // Go: "go: errors parsing go.mod:", "/shop/go.mod:5: syntax error"
  [/^(go: .*:)\n/, '$1 '],
  // GoogleTest, and what is left of Testify and Rust: "/shop/a.cc:8", "no money"
  [/^(?<place>\S+\.\w+:\d+(?::\d+)?):?[ \t]*\n\s*(?<reason>[\s\S]+)$/, '$<reason>\nat $<place>'],
  // JavaScript, a frame outside the project: "    at run (node:internal/main:3:1)"
  [/\n *at .*(?:node_modules\/|\(?node:|\(<anonymous>\)).*/g, ''],
]

function withReasonFirst(text: string): string {
  return BEFORE_THE_REASON.reduce((rest, [before, instead]) => rest.replace(before, instead).trim(), text.trim())
}

// What test tools print about failures of which their JUnit files have no test case, or no reason.

/** The group `title` names the test. */
const PARTS: readonly RegExp[] = [
  // Node, a file that crashed: from "file:///shop/a.js:3" or "node:internal/modules:3" to "Node.js v24.1.0"
  /^(?:(?:file:\/\/)?\/|node:)\S+:\d+\n(?:(?!Node\.js v).*\n)*?(?=\nNode\.js v)/gm,
  // Node, a test: "test at a.js:3:1", "✖ pays (1.2ms)", "  Error: no money". But no test that is still to do ("✖ pays # TODO"), which may fail, and no
  // file of which a test has failed ("  'test failed'"), because this test has a part of its own.
  /^test at \S+:\d+:\d+\n✖ (?!.* # TODO$)(?<title>.*?)(?: \([\d.]+ms\))?\n(?! {2}'test failed')(?: {2}.*\n?)*/gm,
  // Node, a threshold: "ℹ Error: 50.00% line coverage does not meet threshold of 90%."
  /^ℹ Error: .*/gm,
  // Mocha, a file: " Exception during run: Error: no money"
  /^ ?Exception during run: (?:.*\n?)*/gm,
  // Bun, a file: "# Unhandled error between tests", "-----", "error: no money", "-----"
  /^# Unhandled error between tests\n-+\n(?:(?!-+\n).*\n)+/gm,
  // gotestsum, what could not be built: "=== Errors", "a_test.go:5:3: undefined: pay"
  /(?<=^=== Errors\n)(?:.+\n)+/gm,
  // RSpec, a file: from "An error occurred while loading ./a_spec.rb." to "# ./a_spec.rb:1:in `<top (required)>'"
  /^An error occurred (?:.*\n)+?# .*/gm,
  // CTest: "Unable to find executable: pay", and "\t  5 - pays (Timeout)"
  /^Unable to find executable: .*/gm,
  /^\t *\d+ - (?<title>.*) \((?!Failed|Disabled|Skipped)\w[\w ]*\)$/gm,
  // Meson: "7/7 pays   TIMEOUT   1.04s   killed by signal 15 SIGTERM"
  /^ *\d+\/\d+ (?<title>.*?) +(?:TIMEOUT|UNEXPECTEDPASS|ERROR|INTERRUPT)\b.*/gm,
  // pytest, below "ERROR: usage: pytest [options]": "pytest: error: no such option"
  /(?<=^ERROR: usage: .*\n)\S+: error: .*/gm,
  // pytest-cov: "FAIL Required test coverage of 90% not reached. Total coverage: 50.00%"
  /^FAIL Required test coverage .*/gm,
]

/**
 * Returns the parts of the output that say what the report does not. A part about a test that the report lists as failed is left out, unless the
 * report has no line for this test, because then the part says its place.
 */
export function findToolLines(output: string, testCases: readonly TestCase[]): string[] {
  const known = testCases.filter((one) => isBad(one) && one.line !== undefined).map(({ title }) => ` > ${title}`)
  const isKnown = (title: string | undefined) => title !== undefined && known.some((one) => one.endsWith(` > ${title}`))
  const found = PARTS.flatMap((part) => [...output.matchAll(part)]).filter(({ groups }) => !isKnown(groups?.title))
  const lines = new Set(found.map(([text]) => withReasonFirst(text)))
  return [...lines].sort((one, other) => Number(CONSEQUENCE.test(one)) - Number(CONSEQUENCE.test(other)))
}

/** If a hook fails, Node prints this for the test, and later the error of the hook. The sort puts the error first, because it is the cause. */
const CONSEQUENCE = /^✖ .*: 'test did not finish before its parent/
