import { relative } from 'node:path'
import type { XmlElement } from './junit-xml.ts'

// What a test of a JUnit report is: its result, its time and its title. Each tool means something else by the same words.

/** What the names of elements mean, and the words of the attributes `status` and `result`. What is not here means nothing. */
const MEANING = {
  FAILED: /^(?:failure|error|rerunFailure|rerunError|failed|fail)$/,
  SKIPPED: /^(?:skip(?:ped)?|disabled|notrun|suppressed|ignored|pending)$/,
  FLAKY: /^flaky(?:Failure|Error)$/,
}

export interface Result {
  readonly status: keyof typeof MEANING | 'PASSED'
  /** The elements that say why. */
  readonly outcomes: readonly XmlElement[]
}

/** The first rule that applies decides. The exit code of the command counts more than the report. */
export function resultOf({ attributes, outcomes }: XmlElement, hasPassed: boolean): Result {
  // If a test of Node that is still to do fails, Node lists a failure and a skip. Only the skip counts.
  const toDo = outcomes.filter(({ tag, attributes: { type } }) => tag === 'skipped' && type === 'todo')
  if (toDo.length > 0) return { status: 'SKIPPED', outcomes: toDo }
  if (hasPassed && outcomes.some(mayFailInCatch2)) return { status: 'SKIPPED', outcomes }
  const words = [
    ...outcomes.map((outcome) => (hasPassed ? wordAtExitCode0(outcome) : outcome.tag)),
    ...[attributes.status, attributes.result].map((word) => word?.toLowerCase()),
  ]
  const says = (status: keyof typeof MEANING) => words.some((word = '') => MEANING[status].test(word))
  if (says('SKIPPED') && !says('FAILED')) return { status: 'SKIPPED', outcomes }
  const status = (['FAILED', 'FLAKY'] as const).find(says)
  if (status === undefined) return { status: 'PASSED', outcomes: [] }
  const matching = outcomes.filter(({ tag }) => MEANING[status].test(tag))
  // Surefire lists the first failure of a test, and then each try that failed again.
  const lastTry = matching.findLast(({ tag }) => /^(?:rerun|flaky)/.test(tag))
  return { status, outcomes: lastTry === undefined ? matching : [lastTry] }
}

/** Catch2 lists the failure of a test that may fail, and this skip beside it. If nothing else failed, Catch2 exits with 0. */
function mayFailInCatch2({ attributes: { message } }: XmlElement): boolean {
  return message === 'TEST_CASE tagged with !mayfail'
}

/** PHPUnit lists a risky test as an error, and Perl a TODO test that passes. Both may exit with 0. */
const RISKY = /^PHPUnit[\\_]Framework[\\_](?:RiskyTestError|OutputError|\w*Cover\w+)$|^TodoTestSucceeded$/

/** If the command exited with 0, some failures are none for the tool. Returns the word that counts in place of the tag. Undefined if none counts. */
function wordAtExitCode0({ tag, attributes: { type = '' } }: XmlElement): string | undefined {
  if (RISKY.test(type)) return undefined
  // A pending step of cucumber-js. If cucumber-js is `strict`, it does not exit with 0.
  return type === 'PENDING' ? 'pending' : tag
}

/** Surefire writes `1,234.5`, and TestNG `0,125` in some countries. The last separator is the decimal one. */
export function millisecondsOf({ attributes: { time = '' } }: XmlElement): number {
  const [, whole = '', part = ''] = /^(.*?)(?:[.,](\d+))?$/s.exec(time.replace(/\s/g, '')) ?? []
  // Python writes `1e-05`.
  const seconds = Number(time) || Number(`${whole.replace(/[.,'’]/g, '')}.${part}`)
  const milliseconds = Math.round(seconds * 1000)
  return milliseconds > 0 && Number.isSafeInteger(milliseconds) ? milliseconds : 0
}

/** `titleOfClass` is the class without what names the file. */
export function titleOf({ attributes, suites }: XmlElement, titleOfClass: string, folder: string): string[] {
  const [name = '', classname] = [attributes.name?.trim(), attributes.classname?.trim()]
  // Node names a file that cannot be loaded, and PHPUnit a suite, by the absolute path.
  return partsOf(name, classname, titleOfClass, suites).map((part) =>
    part.startsWith(`${folder}/`) ? relative(folder, part) : part,
  )
}

/**
 * How each tool names a test. The first rule that applies decides, so the special rules are before the general rules. For example, a test of
 * Vitest would also fit the rule of Node, and have the file in its title.
 */
function partsOf(
  name: string,
  classname: string | undefined,
  titleOfClass: string,
  suites: readonly string[],
): string[] {
  // jest-junit: classname="cart adds" name="cart adds" is "cart adds".
  if (name === classname) return [name]
  // Vitest and Deno have the file as the class: classname="src/cart.test.js" name="cart > adds" is "cart > adds".
  if (classname && titleOfClass === '') return [name || classname]
  // Bun, in the suites "cart.test.js", "cart" and "inner": classname="inner > cart" name="adds" is "cart > inner > adds".
  const blocks = suites.slice(1)
  if (classname === blocks.toReversed().join(' > ')) return [...blocks, name]
  // Node, in the suites "cart" and "inner": classname="test" name="adds" is "cart > inner > adds". Newer versions have classname="cart.inner".
  if ([undefined, 'test', suites.join('.')].includes(classname)) return [...suites, name]
  // mocha-junit-reporter, in the suite "cart": classname="adds" name="cart adds" is "cart adds".
  if (suites.at(-1) && name.endsWith(`${suites.at(-1)} ${classname}`)) return [name]
  // Most tools: classname="cart" name="adds" is "cart > adds".
  return [titleOfClass, name]
}
