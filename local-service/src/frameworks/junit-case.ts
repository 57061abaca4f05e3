import { relative } from 'node:path'
import type { XmlCase, XmlOutcome } from './junit-xml.ts'
import { isBad, type TestCase } from './report.ts'

// What a test of a JUnit report is: its status, its title and its reason. Each tool means something else by the same words.

/** By element, and by the words of the attributes `status` and `result`. What is not here means nothing. */
const MEANING = {
  FAILED: /^(?:failure|error|rerunFailure|rerunError|failed|fail)$/,
  SKIPPED: /^(?:skip(?:ped)?|disabled|notrun|suppressed|ignored|pending)$/,
  FLAKY: /^flaky(?:Failure|Error)$/,
}
/** PHPUnit lists a test that it calls risky as an error, and Perl a test to do that passes. Both may exit with 0. */
const RISKY = /^PHPUnit[\\_]Framework[\\_](?:RiskyTestError|OutputError|\w*Cover\w+)$|^TodoTestSucceeded$/

/** cucumber-js lists a pending step as a failure. It exits with 0 only if it is not `strict`, and then such a step is no failure. */
const isPending = ({ type }: XmlOutcome) => type === 'PENDING'

/** The first rule that applies decides. The exit code of the command counts more than the report. */
export function statusOf({ attributes, outcomes }: XmlCase, hasPassed: boolean): keyof typeof MEANING | 'PASSED' {
  const tags = outcomes.filter(({ type }) => !hasPassed || !RISKY.test(type)).map(({ tag }) => tag)
  const words = [...tags, ...[attributes.status, attributes.result].map((word = '') => word.toLowerCase())]
  const says = (status: keyof typeof MEANING) => words.some((word) => MEANING[status].test(word))
  // Node lists the failure of a test that is still to do, and Catch2 that of a test that may fail.
  if (outcomes.some(isToDo) || (hasPassed && (says('SKIPPED') || outcomes.some(isPending)))) return 'SKIPPED'
  if (says('FAILED')) return 'FAILED'
  if (says('SKIPPED')) return 'SKIPPED'
  return says('FLAKY') ? 'FLAKY' : 'PASSED'
}

const isToDo = ({ tag, type }: XmlOutcome) => tag === 'skipped' && type === 'todo'

/** Surefire writes `1,234.5`, and TestNG `0,125` in some countries. The last separator is the decimal one. */
export function millisecondsOf({ attributes: { time = '' } }: XmlCase): number {
  const [, whole = '', part = ''] = /^(.*?)(?:[.,](\d+))?$/s.exec(time.replace(/\s/g, '')) ?? []
  // Python writes `1e-05`.
  const seconds = Number(time) || Number(`${whole.replace(/[.,'’]/g, '')}.${part}`)
  const milliseconds = Math.round(seconds * 1000)
  return milliseconds > 0 && Number.isSafeInteger(milliseconds) ? milliseconds : 0
}

/** The parts of the title. `rest` is the class without what names the file. They do not depend on the result. */
export function titleOf(
  { attributes, suites }: XmlCase,
  rest: string,
  file: string | undefined,
  folder: string,
): string[] {
  const [given = '', classname] = [attributes.name?.trim(), attributes.classname?.trim()]
  // Node names a file that cannot be loaded, and PHPUnit a suite, by the absolute path.
  const short = (name: string) => (name === file || name.startsWith(`${folder}/`) ? relative(folder, name) : name)
  const name = short(given)
  if (name === '' && classname !== undefined) return [rest || classname]
  // Jest repeats the whole title. In Vitest and Deno, the class is the file.
  if (name === classname || (classname && rest === '')) return [name]
  // Bun names the blocks from the inside out.
  const blocks = suites.slice(1)
  if (blocks.length > 1 && classname === blocks.toReversed().join(' > ')) return [...blocks, name]
  // Node has "test" as the class of tests, and newer versions have the names of the suites, joined by dots.
  const isOfSuites = classname === undefined || classname === 'test' || classname === suites.join('.')
  if (isOfSuites) return [...suites.map(short), name]
  // In Mocha's reports, the name has the names of the blocks, and the class is the name of the test alone.
  const suite = suites.at(-1) ?? ''
  const isWhole = suite !== '' && !classname.startsWith(suite) && name.endsWith(`${suite} ${classname}`)
  return isWhole ? [name] : [rest, name]
}

/** Why a test did not pass or was skipped. The first line says what is wrong, because readers show only this line. */
export function reasonOf(found: XmlCase, status: ReturnType<typeof statusOf>): string {
  if (status === 'PASSED') return ''
  const chosen = outcomesOf(found, status)
  const texts = chosen.map(textOf).filter((text) => text !== '')
  if (status === 'SKIPPED') return texts.filter((text) => !EMPTY_SKIP.test(text)).join('\n\n')
  // CTest has only what the test printed. In Bazel, the suite has it.
  const ofSuite = texts.some((text) => BAZEL.test(text)) ? endOf(found.suiteOutput()) : ''
  return ofSuite || texts.join('\n\n') || endOf(found.output) || chosen[0]?.type || (chosen[0]?.message ?? '')
}

function outcomesOf({ outcomes }: XmlCase, status: ReturnType<typeof statusOf>): readonly XmlOutcome[] {
  // What a test to do has thrown is not the reason of its skip.
  if (status === 'SKIPPED') return outcomes.some(isToDo) ? outcomes.filter(isToDo) : outcomes
  const ofStatus = outcomes.filter(({ tag }) => status !== 'PASSED' && MEANING[status].test(tag))
  const lastTry = ofStatus.findLast(({ tag }) => /^(?:rerun|flaky)/.test(tag))
  return lastTry === undefined ? ofStatus : [lastTry]
}

/** Reasons of Node and Bun that say nothing. */
const EMPTY_SKIP = /^(?:true|todo)$/i
/** Of a test whose program writes no report. */
const BAZEL = /^exited with error code \d+$/

function endOf(output: string): string {
  return withReasonFirst(output.trim().split('\n').slice(-QUOTED_LINES).join('\n'))
}

const QUOTED_LINES = 10
/** Messages of gotestsum, Swift, pytest, nose2, behave, doctest and Boost that say nothing. */
const EMPTY_MESSAGE = /^(?:failed|(?:build |collection |test )?(?:failure|error)|exception|none)?$/i

/** The message of the attribute comes first, unless the text begins with it. */
function textOf({ message, text }: XmlOutcome): string {
  const [given, all] = [message, text].map((one) => one.replaceAll('\r\n', '\n').trim()) as [string, string]
  // In the text of pytest, and in the last traceback of Python, the error is at the end.
  const tracebacks = all.matchAll(/^Traceback .*\n(?:[ \t].*\n)+(\S.*)/gm)
  const [, error = ''] = /^E {3}(\S.*)/m.exec(all) ?? [...tracebacks].at(-1) ?? []
  const said = EMPTY_MESSAGE.test(given) ? error : given
  // Rust has the number of the thread only in the text.
  const begins = [all, all.replace(/^[\w.$]+(?: \[\w+\])?: /, ''), all.replace(/^(thread '.*') \(\d+\)/, '$1')]
  const isFirst = begins.some((one) => one.startsWith(said))
  return withReasonFirst(isFirst ? all : `${said}\n\n${all}`)
}

/** By tool: what is replaced, one after the other, so that a text begins with the reason. The place goes behind the reason. */
const BEFORE_THE_REASON: readonly (readonly [RegExp, string])[] = [
  // JavaScript: what is outside of the project in a stack.
  [/\n +at .*(?:node_modules\/|\(?node:|\(<anonymous>\)).*/g, ''],
  // Node: a test, and the lines of a file that crashed.
  [/^(?<place>test at .*)\n(?<test>✖ .*?)(?: \([\d.]+ms\))?\n\s*(?<reason>[\s\S]+)$/, '$<test>: $<reason>\n$<place>'],
  [/^node:\S+:\d+\n(?:.+\n)*? *\^+\n\n/, ''],
  [/^(?<place>\S+:\d+)\n(?:.+\n)*? *\^+\n\n(?<reason>[\s\S]+)$/, '$<reason>\nat $<place>'],
  // Jest, and Bun: a file.
  [/● Test suite failed to run\s*\n\s*(?:Jest encountered an unexpected token\n[\s\S]*?\n\s*Details:\s*\n\s*)?/, ''],
  [/^# Unhandled error between tests\n-+\n(?:.*\n)*?(?=.*error: )/i, ''],
  // Go: the progress.
  [/^(?:\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- FAIL:) .*\n)+(?=.*\S)/, ''],
  // Catch2, GoogleTest, TAP and PHPUnit: a headline.
  [/^(?:FAILED:\s*|unknown file|---|[A-Z][\w\\]*::\w+(?: with data set .*)?)\n/, ''],
  // Bats
  [/^(?<place>\((?:from function|in) [\s\S]*? line \d+\))\n\s*(?<reason>[\s\S]+)$/, '$<reason>\n$<place>'],
  // Testify has a heading for the error, and repeats the place. Rust names the thread. GoogleTest has only the place.
  [/^(?<place>\S+\.go:\d+:[ \t]*\n)\s*Error Trace:[\s\S]*?\n[ \t]*Error:\s*/, '$<place>'],
  [/^thread '.*' (?:\(\d+\) )?panicked at (?=\S+\.\w+:\d)/, ''],
  [/^(?<place>\S+\.\w+:\d+(?::\d+)?):?[ \t]*\n\s*(?<reason>[\s\S]+)$/, '$<reason>\nat $<place>'],
]

/** Readers show only the first line. */
function withReasonFirst(text: string): string {
  return BEFORE_THE_REASON.reduce((rest, [before, instead]) => rest.replace(before, instead).trim(), text.trim())
}

// What test tools print about failures of which their JUnit files have no test case, or no reason.

/** The groups `title` and `file` name what failed. */
const PARTS: readonly RegExp[] = [
  // Node: a file that crashed, a test, and a threshold.
  /^(?:(?:file:\/\/)?(?<file>\/\S+)|node:\S+):\d+\n(?:(?!Node\.js v).*\n)*?(?=\nNode\.js v)/gm,
  /^test at \S+:\d+:\d+\n✖ (?!.* # TODO$)(?<title>.*?)(?: \([\d.]+ms\))?\n(?! {2}'test failed')(?: {2}.*\n?)*/gm,
  /^ℹ Error: .*/gm,
  // Mocha: a file.
  /^ ?Exception during run: (?:.*\n?)*/gm,
  // Bun: a file.
  /^# Unhandled error between tests\n-+\n(?:(?!-+\n).*\n)+/gm,
  // c8, nyc and SimpleCov: thresholds.
  /^(?:ERROR: Coverage for .* does not meet .*|\w+ coverage \(.*\) is below the expected minimum coverage .*)/gm,
  // gotestsum: what could not be built.
  /(?<=^=== Errors\n)(?:.+\n)+/gm,
  // RSpec
  /^An error occurred (?:.*\n)+?# .*/gm,
  // CTest
  /^Unable to find executable: .*/gm,
  /^\t *\d+ - (?<title>.*) \((?!Failed|Disabled|Skipped)\w[\w ]*\)$/gm,
  // Meson
  /^ *\d+\/\d+ (?<title>.*?) +(?:TIMEOUT|UNEXPECTEDPASS|ERROR|INTERRUPT)\b.*/gm,
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
  const lines = new Set(found.filter(({ groups = {} }) => !isKnown(groups)).map(([text]) => withReasonFirst(text)))
  return [...lines].sort((one, other) => Number(CONSEQUENCE.test(one)) - Number(CONSEQUENCE.test(other)))
}

/** In Node, a test whose hook has failed. The hook comes later, and has the cause. */
const CONSEQUENCE = /^✖ .*: 'test did not finish before its parent/
