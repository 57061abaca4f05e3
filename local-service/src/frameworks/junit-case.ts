import { relative } from 'node:path'
import type { XmlCase, XmlOutcome } from './junit-xml.ts'

// What a test of a JUnit report is: its status and its title. Each tool means something else by the same words.

/** What the names of elements mean, and the words of the attributes `status` and `result`. What is not here means nothing. */
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

/** The elements that say why a test has this status. */
export function outcomesOf({ outcomes }: XmlCase, status: ReturnType<typeof statusOf>): readonly XmlOutcome[] {
  // What a test to do has thrown is not the reason of its skip.
  if (status === 'SKIPPED') return outcomes.some(isToDo) ? outcomes.filter(isToDo) : outcomes
  const matching = outcomes.filter(({ tag }) => status !== 'PASSED' && MEANING[status].test(tag))
  const lastTry = matching.findLast(({ tag }) => /^(?:rerun|flaky)/.test(tag))
  return lastTry === undefined ? matching : [lastTry]
}

/** Surefire writes `1,234.5`, and TestNG `0,125` in some countries. The last separator is the decimal one. */
export function millisecondsOf({ attributes: { time = '' } }: XmlCase): number {
  const [, whole = '', part = ''] = /^(.*?)(?:[.,](\d+))?$/s.exec(time.replace(/\s/g, '')) ?? []
  // Python writes `1e-05`.
  const seconds = Number(time) || Number(`${whole.replace(/[.,'’]/g, '')}.${part}`)
  const milliseconds = Math.round(seconds * 1000)
  return milliseconds > 0 && Number.isSafeInteger(milliseconds) ? milliseconds : 0
}

/** How a report names a test. */
interface Names {
  readonly name: string
  readonly classname: string | undefined
  /** The class without what names the file. */
  readonly rest: string
  /** The outermost is the first. */
  readonly suites: readonly string[]
}

/** How each tool names a test, with an example. The first that fits gives the parts of the title. None looks at the result, because a title must not depend on it. */
const TITLES: readonly ((names: Names) => readonly string[] | undefined)[] = [
  // jest-junit: classname="cart adds" name="cart adds" is "cart adds".
  ({ name, classname }) => (name === classname ? [name] : undefined),
  // Vitest and Deno have the file as the class: classname="src/cart.test.js" name="cart > adds" is "cart > adds".
  ({ name, classname, rest }) => (classname && rest === '' ? [name || classname] : undefined),
  // Bun, in the suites "cart.test.js", "cart" and "inner": classname="inner > cart" name="adds" is "cart > inner > adds".
  ({ name, classname, suites: [, ...blocks] }) =>
    classname === blocks.toReversed().join(' > ') ? [...blocks, name] : undefined,
  // Node, in the suites "cart" and "inner": classname="test" name="adds" is "cart > inner > adds". Newer versions have classname="cart.inner".
  ({ name, classname, suites }) =>
    [undefined, 'test', suites.join('.')].includes(classname) ? [...suites, name] : undefined,
  // mocha-junit-reporter, in the suite "cart": classname="adds" name="cart adds" is "cart adds".
  ({ name, classname, suites }) =>
    suites.at(-1) && name.endsWith(`${suites.at(-1)} ${classname}`) ? [name] : undefined,
  // Most tools: classname="cart" name="adds" is "cart > adds".
  ({ name, rest }) => [rest, name],
]

/** The parts of the title. `rest` is the class without what names the file. */
export function titleOf(
  { attributes, suites }: XmlCase,
  { rest, file }: { readonly rest: string; readonly file?: string | undefined },
  folder: string,
): string[] {
  const names = { name: attributes.name?.trim() ?? '', classname: attributes.classname?.trim(), rest, suites }
  const parts = TITLES.map((partsOf) => partsOf(names)).find((found) => found !== undefined) ?? []
  // Node names a file that cannot be loaded, and PHPUnit a suite, by the absolute path.
  return parts.map((part) => (part === file || part.startsWith(`${folder}/`) ? relative(folder, part) : part))
}
