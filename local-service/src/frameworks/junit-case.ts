import { relative } from 'node:path'
import type { XmlCase, XmlOutcome } from './junit-xml.ts'
import type { TestCaseStatus } from './report.ts'

// What a test of a JUnit report is: its status, its title and its reason. Each tool means something else by the same words.

/** By element, and by the words of the attributes `status` and `result`. What is not here means nothing. */
const MEANING: ReadonlyMap<string, TestCaseStatus> = new Map([
  ...(['failure', 'error', 'rerunFailure', 'rerunError', 'failed', 'fail'] as const).map(
    (word) => [word, 'FAILED'] as const,
  ),
  ...(['flakyFailure', 'flakyError'] as const).map((word) => [word, 'FLAKY'] as const),
  ...(['skipped', 'disabled', 'notrun', 'suppressed'] as const).map((word) => [word, 'SKIPPED'] as const),
])
/** PHPUnit lists a test that it calls risky as an error, and may exit with 0. */
const RISKY = /^PHPUnit[\\_]Framework[\\_](?:RiskyTestError|OutputError|\w*Cover\w+)$/

/** The first rule that applies decides. The exit code of the command counts more than the report. */
export function statusOf({ attributes, outcomes }: XmlCase, hasPassed: boolean): TestCaseStatus {
  const tags = outcomes.filter(({ type }) => !hasPassed || !RISKY.test(type)).map(({ tag }) => tag)
  const words = [attributes.status, attributes.result].map((word = '') => word.toLowerCase())
  const found = new Set([...tags, ...words].map((word) => MEANING.get(word)))
  const rules: readonly (readonly [TestCaseStatus, boolean])[] = [
    // Node lists the failure of a test that is still to do, and does not count it.
    ['SKIPPED', outcomes.some(isToDo)],
    // Catch2 lists the failure of a test that may fail.
    ['SKIPPED', found.has('SKIPPED') && hasPassed],
    ['FAILED', found.has('FAILED')],
    ['SKIPPED', found.has('SKIPPED')],
    ['FLAKY', found.has('FLAKY')],
  ]
  return rules.find(([, applies]) => applies)?.[0] ?? 'PASSED'
}

const isToDo = ({ tag, type }: XmlOutcome) => tag === 'skipped' && type === 'todo'

/** Surefire writes `1,234.5`, and TestNG `0,125` in some countries. The last separator is the decimal one. */
export function millisecondsOf({ attributes: { time = '' } }: XmlCase): number {
  const [, whole = '', part = ''] = /^(.*?)(?:[.,](\d+))?$/s.exec(time.replace(/\s/g, '')) ?? []
  const milliseconds = Math.round(Number(`${whole.replace(/[.,]/g, '')}.${part}`) * 1000)
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
  // Jest repeats the whole title.
  if (name === classname) return [name]
  // Node has "test" as the class of tests, and newer versions have the names of the suites, joined by dots.
  const isOfSuites = classname === undefined || classname === 'test' || classname === suites.join('.')
  if (isOfSuites) return [...suites.map(short), name]
  // In Mocha's reports, the name has the names of the blocks, and the class is the name of the test alone.
  const suite = suites.at(-1) ?? ''
  const isWhole = suite !== '' && !classname.startsWith(suite) && name.endsWith(`${suite} ${classname}`)
  return isWhole ? [name] : [rest, name]
}

/** Why a test did not pass. The first line says what is wrong, because readers show only this line. */
export function reasonOf({ outcomes, attributes, output }: XmlCase, status: TestCaseStatus): string {
  // A test that was only skipped needs no reason.
  const isSkipped = status === 'SKIPPED' && (outcomes.some(isToDo) || outcomes.every(({ tag }) => tag === 'skipped'))
  if (status === 'PASSED' || isSkipped) return ''
  const ofStatus = status === 'SKIPPED' ? outcomes : outcomes.filter(({ tag }) => MEANING.get(tag) === status)
  const lastTry = ofStatus.findLast(({ tag }) => /^(?:rerun|flaky)/.test(tag))
  const chosen = lastTry === undefined ? ofStatus : [lastTry]
  const texts = chosen.map((outcome) => textOf(outcome, attributes.name ?? '')).filter((text) => text !== '')
  // CTest has only what the test printed.
  const printed = output.trim().split('\n').slice(-QUOTED_LINES).join('\n')
  return texts.join('\n\n') || printed || (chosen[0]?.type ?? '')
}

const QUOTED_LINES = 10
/** Messages of gotestsum and pytest that say nothing. */
const EMPTY_MESSAGES = ['Failed', 'collection failure']

/** The message of the attribute comes first, unless the text begins with it. */
function textOf({ message, text }: XmlOutcome, name: string): string {
  const [given, all] = [message, text].map((one) => one.replaceAll('\r\n', '\n').trim()) as [string, string]
  // The error of a file that pytest cannot load is at the end.
  const said = all !== '' && EMPTY_MESSAGES.includes(given) ? (/^E {3}(\S.*)/m.exec(all)?.[1] ?? '') : given
  const isFirst = all.replace(/^[\w.$]+(?: \[\w+\])?: /, '').startsWith(said) || all.startsWith(said)
  return withoutNoise(withoutFrames(isFirst ? all : `${said}\n\n${all}`).trim(), name)
}

/** Without what is outside of the project in the stack of a JavaScript error. */
export function withoutFrames(text: string): string {
  return text.replace(/\n +at .*(?:node_modules\/|\(?node:|\(<anonymous>\)).*/g, '')
}

/** What may stand before the reason: Go's progress, and headlines of Jest, Catch2 and GoogleTest. */
const NOISE =
  /^\s*(?:(?:\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- FAIL:) .*\n)+(?=.*\S)|● Test suite failed to run\s*\n(?:\s*Jest encountered an unexpected token\n[\s\S]*?\n\s*Details:\s*\n)?|FAILED:\s*\n|unknown file\n)/
/** GoogleTest and Rust begin with the place. */
const PLACE_FIRST = /^(?:thread '.*' (?:\(\d+\) )?panicked at )?(\S+\.\w+:\d+(?::\d+)?):?$/

function withoutNoise(text: string, name: string): string {
  const rest = text.replace(NOISE, '').trim()
  const [first = ''] = rest.split('\n', 1)
  const others = rest.slice(first.length).trim()
  // PHPUnit begins with the test.
  if (others === '' || (name !== '' && first.includes(`::${name}`))) return others || rest
  const [, place] = PLACE_FIRST.exec(first) ?? []
  return place === undefined ? rest : `${others}\nat ${place}`
}
