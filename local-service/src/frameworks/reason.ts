import { type CommandEnd, describeEnd, hasEndedByItself, hasFailed, hasSucceeded } from '../machine/command.ts'
import type { Framework, FrameworkCall } from './framework.ts'
import { isBad, type Report } from './report.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

/** The reason of a run that did not pass. Undefined if the test cases say everything. */
export function whyNotPassed(
  {
    title,
    noTestsArgument,
    reportsOnlyEnd = false,
  }: Pick<FrameworkCall, 'title' | 'reportsOnlyEnd'> & Pick<Framework, 'noTestsArgument'>,
  end: CommandEnd,
  report: Report | undefined,
): string | undefined {
  const own = report && findOwnWords(end.output, report)
  const { why, output } = describeCause(own, end, report)
  const rest = why + output
  const ended = `${title} ${describeEnd(end)}`
  // A signal, or a program that is not there, says more than a report that nobody could finish.
  if (!hasEndedByItself(end)) return `${ended}${rest}`
  const early = hasSucceeded(end)
    ? '. A test or the configuration may have ended its process, for example with process.exit()'
    : ''
  const lookForIt = early && '. Look for it in the output, and correct it'
  if (report === undefined) {
    if (hasFailed(end) && reportsOnlyEnd)
      return `${ended} without a report. ${WHY_ONLY_AT_END}${output || (why && `\nIt said${why}`)}`
    if (hasFailed(end) && rest !== '') return `${title} could not run the tests${rest}`
    const notPassedOn =
      early && ', or the "command" of the project may not have passed on the arguments that the service adds'
    return `${ended} without a report${rest}${early}${notPassedOn}${lookForIt}`
  }
  const hasBadTests = report.testCases.some(isBad)
  if (report.problem !== undefined) {
    const advice = report.advice ?? ''
    // The tool itself says why it failed, and a report that could be read lacks nothing but that.
    if (report.isComplete && hasFailed(end) && !hasBadTests && why !== '')
      return `${ended}${why}\nBesides, ${report.problem}${advice && `. ${advice}`}${output}`
    const next = advice && `${why === '' ? '. ' : '\n'}${advice}`
    return `${ended}, ${end.kind === 'exited' ? 'and' : 'because'} ${report.problem}${why}${next}${output}`
  }
  if (!report.isComplete) return `${ended} before it had reported all tests${rest}${early}${lookForIt}`
  if (hasBadTests) return own && `${title} reported an error outside the tests: ${own}`
  if (report.testCases.length > 0) return `${ended}, although no test failed${rest}`
  if (own !== undefined) return `${title} could not run the tests: ${own}`
  if (noTestsArgument !== undefined)
    return `${title} found no tests. If you expect that, add ${noTestsArgument} to its arguments, and set the gate's input pass-with-no-tests to true.`
  return `${ended}, and its report has no test${why}\nIf you expect that, let the command exit with 0, and set the gate's input pass-with-no-tests to true.${output}`
}

/** Jest has then run tests, and exits before its end. An old version cannot load the file that takes the results. */
const WHY_ONLY_AT_END =
  'With "command", the tests are not reported if --bail stops the run, or if Jest is older than 29.0.'

interface Cause {
  /** The rest of a sentence about the end: what the framework or its output says, else one of the last lines of the output. */
  readonly why: string
  /** The last lines of the output, if they say more. */
  readonly output: string
}

const NO_CAUSE: Cause = { why: '', output: '' }

function describeCause(own: string | undefined, end: CommandEnd, report: Report | undefined): Cause {
  const noMemory = report?.isComplete ? undefined : NO_MEMORY.exec(end.output)?.[0]
  // If there is no report, no test has written to the output.
  const ofStart = report === undefined && hasFailed(end) ? findError(end.output) : undefined
  const words = own ?? noMemory ?? ofStart ?? findCrash(end.output)
  if (words !== undefined) return { why: `: ${words}`, output: '' }
  // Failed tests say it themselves.
  return report?.isComplete && report.testCases.some(isBad) ? NO_CAUSE : quoteOutput(end)
}

/** Vitest and Jest begin their own sentences so, for example about thresholds that are not met. */
const OWN_SENTENCE = /^(?:ERROR|Jest): /
/** V8 prints it when a process has no memory left. Then the process ends with SIGABRT. */
const NO_MEMORY = /^FATAL ERROR: .*heap out of memory$/m

/** What the framework said about itself, or reported outside the tests. V8's line says why a worker died. */
function findOwnWords(output: string, { errors, said }: Report): string | undefined {
  const outside = errors.length === 0 ? [] : [[errors.join('\n\n'), ...(NO_MEMORY.exec(output) ?? [])].join(': ')]
  const own = [...outside, ...said.filter((text) => OWN_SENTENCE.test(text))].join('\n\n')
  return own || findError(said.join('\n'))
}

/** The error with which Node itself ended the framework's process. Then the output ends with the version of Node. */
function findCrash(output: string): string | undefined {
  const crash = /\n\nNode\.js v\d\S*\s*$/.exec(output)
  const last = [...output.slice(0, crash?.index ?? 0).matchAll(new RegExp(FIRST_LINE_OF_ERROR, 'gm'))].at(-1)
  return last && errorAt(output, last.index)
}

const QUOTED_LINES = 10
const LINE_OF_STACK = /^\s+(?:at |❯ )/

/** pytest frames its last line. */
const FRAME = /^([=*_─-])\1{2,} *| *([=*_─-])\2{2,}$/g

/**
 * The last lines of the output, if the command exited with an error that nothing else names. Many readers show only the first line of a
 * reason. So it has the last line that begins as an error, else the last line that is no line of a stack.
 */
function quoteOutput(end: CommandEnd): Cause {
  if (end.kind !== 'exited' || end.code === 0 || end.output.trim() === '') return NO_CAUSE
  const lines = end.output.trim().split('\n')
  const says = (line: string) => line.trim() !== '' && !LINE_OF_STACK.test(line)
  // A stack may be longer than what is quoted, and the reason is above it.
  const begin = lines.flatMap((line, index) => (says(line) ? index : [])).at(-QUOTED_LINES) ?? 0
  const quoted = lines.slice(begin)
  const isError = (line: string) => FIRST_LINE_OF_ERROR.test(line) || ERROR_OF_COMPILER.test(line)
  const first = quoted.findLast(isError) ?? quoted.findLast(says)
  const all = quoted.join('\n')
  if (first === undefined || first === quoted[0]) return { why: `: ${all}`, output: '' }
  return { why: `: ${first.trim().replace(FRAME, '') || first}`, output: `\nIts output ends with:\n${all}` }
}

const FIRST_LINE_OF_ERROR = /^(?:[A-Z]\w*Error(?: \[\w+\])?|Error(?: \[\w+\])?|error): \S/m
/** `Cart.cs(1,10): error CS1513: } expected`, or `cart.cc:3:5: error: expected ';'`. */
const ERROR_OF_COMPILER = /^\S.*: error(?: [A-Z]+\d+)?: \S/
/** Where the error begins in a text that no test has written. Vitest has headlines for its own errors, and others for those of tests. */
const BEGINNINGS: readonly RegExp[] = [
  /(?<=^⎯+ (?:Startup|Unhandled|Collect|Test Run) (?:Error|Rejection) ⎯+\n)/m,
  /(?<=^ *MISSING DEPENDENCY +)\S/m,
  FIRST_LINE_OF_ERROR,
]
/** An error ends before its stack, or before a blank line. */
const END_OF_ERROR = /\n(?: +(?:at |❯ )|\s*\n)/
/** The first line of the stack, if it is in a file of the project. */
const FRAME_OF_VITEST = /^\n +❯ (?:.* )?((?!node:|node_modules\/|\/)[^\s:]+:\d+):\d+/

function findError(text: string): string | undefined {
  const index = BEGINNINGS.map((beginning) => text.search(beginning)).find((found) => found !== -1)
  return index === undefined ? undefined : errorAt(text, index)
}

/** `Build failed with 1 error:` of esbuild and Rolldown. Vitest lists different versions behind `, received`. The reason is in the next line. */
const HEADLINE = /^(.*(?::|, received))\n\s*/
/** Vitest lists its projects so: `[`, `  "unit",` and `]`, each in a line of its own. */
const LIST_OF_LINES = /^.*\[\n[^\]]*\]/

/** Many readers show only the first line. So the first line gets the reason. */
function errorAt(output: string, index: number): string | undefined {
  const text = output
    .slice(index)
    .replace(HEADLINE, '$1 ')
    .replace(LIST_OF_LINES, (list) => list.replace(/\s+/g, ' '))
  const end = END_OF_ERROR.exec(text)?.index ?? text.length
  const error = text.slice(0, end).trim()
  const [, place] = FRAME_OF_VITEST.exec(text.slice(end)) ?? []
  return (place === undefined ? error : `${error}\nat ${place}`) || undefined
}
