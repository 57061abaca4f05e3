import { type CommandEnd, describeEnd, hasFailed, hasSucceeded } from '../machine/command.ts'
import type { Framework, FrameworkCall } from './framework.ts'
import { isBad, QUOTED_LINES, type Report } from './report.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

interface Ending {
  readonly title: string
  readonly noTestsArgument?: string | undefined
  /** How the command ended. */
  readonly end: CommandEnd
  /** With the title, such as `vitest exited with code 1`. */
  readonly ended: string
  /** What the framework says outside the tests. */
  readonly own: string | undefined
  /** `: ` and what the framework or its output says, else one of the last lines of the output. Or empty. */
  readonly why: string
  /** A headline and the last lines of the output, behind the end of a line, if they say more than `why`. Or empty. */
  readonly output: string
}

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
  const ended = `${title} ${describeEnd(end)}`
  const ending: Ending = { title, noTestsArgument, end, ended, own, ...describeCause(own, end, report) }
  // A signal, or a program that is not there, says more than a report that nobody could finish.
  if (end.kind === 'cut-off') return ofOtherEnd(ending)
  if (report === undefined && hasFailed(end) && reportsOnlyEnd) return withoutReportOfEnd(ending)
  if (report === undefined) return withoutReport(ending)
  if (report.problem !== undefined) return ofProblem(ending, report, report.problem)
  if (!report.isComplete) return ofPart(ending)
  if (report.testCases.some(isBad)) return besideFailedTests(ending)
  if (report.testCases.length > 0) return withoutFailedTest(ending)
  return withoutTests(ending)
}

/** `vitest was killed by SIGABRT: FATAL ERROR: Reached heap limit` */
function ofOtherEnd({ ended, why, output }: Ending): string {
  return ended + why + output
}

/**
 * `jest exited with code 1 without a report. With "command", [...] older than 29.0.` Jest has then run tests, and exits before its end.
 * An old version cannot load the file that takes the results.
 */
function withoutReportOfEnd({ ended, why, output }: Ending): string {
  const reasons = 'With "command", the tests are not reported if --bail stops the run, or if Jest is older than 29.0.'
  // If there are last lines, `why` is one of them.
  const said = why === '' ? '' : `\nIt said${why}`
  return `${ended} without a report. ${reasons}${output === '' ? said : output}`
}

const MAY_HAVE_EXITED = 'A test or the configuration may have ended its process, for example with process.exit()'
const LOOK_FOR_IT = 'Look for it in the output, and correct it'

/** `vitest could not run the tests: Error: Cannot find package`, or `vitest exited with code 0 without a report. A test or [...]` */
function withoutReport({ title, end, ended, why, output }: Ending): string {
  const rest = why + output
  if (hasFailed(end) && rest !== '') return `${title} could not run the tests${rest}`
  if (!hasSucceeded(end)) return `${ended} without a report${rest}`
  const notPassedOn = 'the "command" of the project may not have passed on the arguments that the service adds'
  return `${ended} without a report${rest}. ${MAY_HAVE_EXITED}, or ${notPassedOn}. ${LOOK_FOR_IT}`
}

/** `pytest exited with code 127, and no file matches "a.xml": pytest: command not found`, and the advice in the next line. */
function ofProblem({ end, ended, why, output }: Ending, report: Report, problem: string): string {
  const { isComplete, testCases, advice = '' } = report
  const isAllButError = isComplete && !testCases.some(isBad)
  if (isAllButError && hasFailed(end) && why !== '') return besidesProblem({ ended, why, output }, problem, advice)
  const linked = `${ended}, ${end.kind === 'exited' ? 'and' : 'because'} ${problem}${why}`
  if (advice === '') return linked + output
  return `${linked}${why === '' ? '. ' : '\n'}${advice}${output}`
}

/**
 * `go test exited with code 1: go: errors parsing go.mod`, and `Besides, its report counts 2 failed and lists 0` in the next line. The
 * tool itself says why it failed, and a report that could be read lacks nothing but that.
 */
function besidesProblem(
  { ended, why, output }: Pick<Ending, 'ended' | 'why' | 'output'>,
  problem: string,
  advice: string,
) {
  return `${ended}${why}\nBesides, ${problem}${advice === '' ? '' : `. ${advice}`}${output}`
}

/** `vitest exited with code 1 before it had reported all tests: Error: Worker exited unexpectedly` */
function ofPart({ end, ended, why, output }: Ending): string {
  const advice = hasSucceeded(end) ? `. ${MAY_HAVE_EXITED}. ${LOOK_FOR_IT}` : ''
  return `${ended} before it had reported all tests${why}${output}${advice}`
}

/** `vitest reported an error outside the tests: TypeError: of the reporter` */
function besideFailedTests({ title, own }: Ending): string | undefined {
  return own === undefined ? undefined : `${title} reported an error outside the tests: ${own}`
}

/** `vitest exited with code 1, although no test failed: ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)` */
function withoutFailedTest({ ended, why, output }: Ending): string {
  return `${ended}, although no test failed${why}${output}`
}

/** `vitest found no tests. If you expect that, add --passWithNoTests to its arguments [...]` */
function withoutTests({ title, noTestsArgument, ended, own, why, output }: Ending): string {
  if (own !== undefined) return `${title} could not run the tests: ${own}`
  if (noTestsArgument !== undefined)
    return `${title} found no tests. If you expect that, add ${noTestsArgument} to its arguments, and set the gate's input pass-with-no-tests to true.`
  return `${ended}, and its report has no test${why}\nIf you expect that, let the command exit with 0, and set the gate's input pass-with-no-tests to true.${output}`
}

type Cause = Pick<Ending, 'why' | 'output'>

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

const LINE_OF_STACK = /^\s+(?:at |❯ )/

/** The signs around the last line of pytest: `==== no tests ran in 0.02s ====`. */
const RULES_AROUND_LINE = /^([=*_─-])\1{2,} *| *([=*_─-])\2{2,}$/g

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
  return { why: `: ${first.trim().replace(RULES_AROUND_LINE, '') || first}`, output: `\nIts output ends with:\n${all}` }
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
