import { type CommandEnd, describeEnd, hasFailed } from '../machine/command.ts'
import type { Framework } from './framework.ts'
import type { Report } from './report.ts'
import { isBad } from './test-case.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

/** The reason of a run that did not pass. Undefined if the test cases say everything. `name` is what sentences call the framework. */
export function whyNotPassed(
  name: string,
  { noTestsArgument, findLastError = lastParagraph }: Pick<Framework, 'noTestsArgument' | 'findLastError'>,
  end: CommandEnd,
  report: Report | undefined,
): string | undefined {
  const ended = `${name} ${describeEnd(end)}`
  const { output } = end
  const noMemory = findNoMemory(output)
  const couldNotRun = (error: string | undefined) => error && `${name} could not run the tests: ${error}`
  if (end.kind !== 'exited') return because(ended, noMemory)
  if (report === undefined) {
    const what = `${ended} without a report`
    return hasFailed(end)
      ? (couldNotRun(findStartError(output) ?? noMemory ?? lastParagraph(output)) ?? what)
      : because(what, noMemory)
  }
  const { errors, said, problem, testCases, isComplete } = report
  if (problem !== undefined)
    return because(`${ended}, and ${problem}`, noMemory ?? (end.code === 0 ? undefined : findLastError(output)))
  const outsideTests = errors.length === 0 ? undefined : because(errors.join('\n\n'), noMemory)
  if (testCases.length === 0 && !isComplete)
    return couldNotRun(outsideTests ?? findSaidError(said) ?? noMemory) ?? ended
  if (testCases.length === 0 && noTestsArgument !== undefined)
    return (
      couldNotRun(outsideTests ?? findStartError(said)) ??
      `${name} found no tests. If you expect that, add ${noTestsArgument} to its arguments, and set the gate's input pass-with-no-tests to true.`
    )
  if (!isComplete)
    return because(
      `${ended} before it had reported all tests`,
      outsideTests ?? noMemory ?? findSaidError(said) ?? findCrash(output),
    )
  if (testCases.some(isBad)) return outsideTests && `${name} reported an error outside the tests: ${outsideTests}`
  return because(`${ended}, although no test failed`, outsideTests ?? findSaidError(said) ?? findLastError(output))
}

function because(what: string, error: string | undefined): string {
  return error === undefined ? what : `${what}: ${error}`
}

/** Vitest prints its own errors below these headlines, and the errors of tests below others. */
const HEADLINE = /^⎯+ (?:Startup|Unhandled|Collect|Test Run) (?:Error|Rejection) ⎯+\n/m
const FIRST_LINE_OF_ERROR = /^(?:[A-Z]\w*Error(?: \[\w+\])?|Error(?: \[\w+\])?|error): \S/m
/** The stack, or a blank line. */
const END_OF_ERROR = /\n(?: +(?:at |❯ )|\s*\n)/
/** The first line of the stack, if it is in a file of the project. */
const FRAME_OF_VITEST = /^\n +❯ (?:.* )?((?!node:|node_modules\/|\/)[^\s:]+:\d+):\d+/
const MISSING_DEPENDENCY = /^ *MISSING DEPENDENCY +(.+)/m
/** V8 prints it when a process has no memory left. Then the process ends with SIGABRT. */
const NO_MEMORY = /^FATAL ERROR: .*heap out of memory$/m

/** Why a framework could not start. Use it only if no test has written to this output. */
export function findStartError(output: string): string | undefined {
  const missing = MISSING_DEPENDENCY.exec(output)?.[1]
  const first = FIRST_LINE_OF_ERROR.exec(output)
  return findBelowHeadline(output) ?? missing ?? (first === null ? undefined : errorAt(output, first.index))
}

/** The error in what a framework said about itself. Undefined if it said nothing. */
export function findSaidError(said: string): string | undefined {
  return findBelowHeadline(said) ?? errorAt(said.trimStart(), 0)
}

/** The last lines of an output, up to a blank line, without a stack. Frameworks end with an error of their own, or a summary. */
export function lastParagraph(output: string): string | undefined {
  const paragraphs = output.trim().split(/\n\s*\n/)
  return findSaidError(paragraphs.at(-1) ?? '')
}

/** An error that is further away from the end is probably not the reason of the end. */
const NEAR_THE_END_CHARS = 2000
/** Jest begins the sentence about a threshold with its own name. */
const ERROR_LINE = /^[^\w\n]*(?:(?:\w*(?:Error|Exception)s?|errors?|fail(?:ed|ure)?|fatal|panic)\b|Jest: )/im

/**
 * The end of the output of any tool. It begins in the last paragraph that has a line with a word such as "error" at its
 * beginning, because a summary often follows the error. Without such a paragraph, it is the last one.
 */
export function findLastError(output: string): string | undefined {
  const paragraphs = output.trim().split(/\n\s*\n/)
  const index = paragraphs.findLastIndex((paragraph) => ERROR_LINE.test(paragraph))
  const end = paragraphs.slice(index).join('\n\n')
  const text = end.slice(ERROR_LINE.exec(end)?.index).trim()
  return index === -1 || text.length > NEAR_THE_END_CHARS ? lastParagraph(output) : text
}

/** The error with which Node itself ended the framework's process. Then the output ends with the version of Node. */
export function findCrash(output: string): string | undefined {
  const crash = /\n\nNode\.js v\d\S*\s*$/.exec(output)
  const errors = [...output.slice(0, crash?.index ?? 0).matchAll(new RegExp(FIRST_LINE_OF_ERROR, 'gm'))]
  const last = errors.at(-1)
  return last && errorAt(output, last.index)
}

/** What V8 says about a process that had no memory left. */
export function findNoMemory(output: string): string | undefined {
  return NO_MEMORY.exec(output)?.[0]
}

function findBelowHeadline(output: string): string | undefined {
  const headline = HEADLINE.exec(output)
  return headline === null ? undefined : errorAt(output, headline.index + headline[0].length)
}

function errorAt(output: string, index: number): string | undefined {
  // Many readers show only the first line. The first line of esbuild and of Rolldown is "Build failed with 1 error:", without the
  // reason. Rolldown has a blank line behind it. Vitest has a list of its projects, and each bracket on a line of its own.
  const text = output
    .slice(index)
    .replace(/^(.*:)\n\s*/, '$1 ')
    .replace(/^.*\[\n[^\]]*\]/, (list) => list.replace(/\s+/g, ' '))
  const end = END_OF_ERROR.exec(text)?.index ?? text.length
  const error = text.slice(0, end).trim()
  const [, place] = FRAME_OF_VITEST.exec(text.slice(end)) ?? []
  return (place === undefined ? error : `${error}\nat ${place}`) || undefined
}
