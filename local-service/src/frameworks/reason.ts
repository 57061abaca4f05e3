import { type CommandEnd, describeEnd, hasFailed, hasSucceeded } from '../machine/command.ts'
import type { Framework, FrameworkCall } from './framework.ts'
import { isBad, QUOTED_LINES, type Report } from './report.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

type Caller = Pick<FrameworkCall, 'title' | 'withoutReport'> & Pick<Framework, 'noTestsArgument'>

const MAY_HAVE_EXITED = 'A test or the configuration may have ended its process, for example with process.exit()'
const NOT_PASSED_ON = 'the "command" of the project may not have passed on the arguments that the service adds'
const LOOK_FOR_IT = 'Look for it in the output, and correct it'
const SET_INPUT = "set the gate's input pass-with-no-tests to true."

/** The reason of a run that did not pass. Undefined if the test cases say everything. */
export function whyNotPassed(
  { title, noTestsArgument, withoutReport }: Caller,
  end: CommandEnd,
  report: Report | undefined,
): string | undefined {
  const ended = `${title} ${describeEnd(end)}`
  const hasFailedTests = report?.testCases.some(isBad) === true
  const own = findOwnWords(end, report)
  // Failed tests say themselves why.
  const needsOutput = own === undefined && !(report?.isComplete && hasFailedTests)
  const quoted = needsOutput ? quoteOutput(end) : {}
  const cause = own ?? quoted.cause
  const say = (sentence: string, advice = '') => {
    const next = advice === '' ? '' : `${cause === undefined ? '. ' : '\n'}${advice}`
    return `${sentence}${cause === undefined ? '' : `: ${cause}`}${next}${quoted.output ?? ''}`
  }
  // `vitest was killed by SIGABRT: FATAL ERROR: Reached heap limit`. This says more than a report that nobody could finish.
  if (end.kind === 'cut-off') return say(ended)
  if (report === undefined) {
    const without = `${ended} without a report`
    if (hasFailed(end) && withoutReport !== undefined) return say(without, withoutReport)
    // `vitest could not run the tests: Error: Cannot find package`
    if (hasFailed(end) && cause !== undefined) return say(`${title} could not run the tests`)
    return say(without, hasSucceeded(end) ? `${MAY_HAVE_EXITED}, or ${NOT_PASSED_ON}. ${LOOK_FOR_IT}` : '')
  }
  const { problem, advice = '', isComplete, testCases } = report
  if (problem !== undefined) {
    // `go test exited with code 1: go: errors parsing go.mod`, and `Besides, its report counts 2 failed and lists 0` in the next line.
    // The tool itself says why it failed, and a report that could be read lacks nothing but that.
    if (isComplete && !hasFailedTests && hasFailed(end) && cause !== undefined)
      return say(ended, `Besides, ${problem}${advice === '' ? '' : `. ${advice}`}`)
    // `pytest exited with code 127, and no file matches "a.xml": pytest: command not found`, and the advice in the next line.
    return say(`${ended}, ${end.kind === 'exited' ? 'and' : 'because'} ${problem}`, advice)
  }
  if (!isComplete)
    return say(
      `${ended} before it had reported all tests`,
      hasSucceeded(end) ? `${MAY_HAVE_EXITED}. ${LOOK_FOR_IT}` : '',
    )
  if (hasFailedTests) return own && say(`${title} reported an error outside the tests`)
  // `vitest exited with code 1, although no test failed: ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)`
  if (testCases.length > 0) return say(`${ended}, although no test failed`)
  if (own !== undefined) return say(`${title} could not run the tests`)
  if (noTestsArgument !== undefined)
    return `${title} found no tests. If you expect that, add ${noTestsArgument} to its arguments, and ${SET_INPUT}`
  return say(
    `${ended}, and its report has no test`,
    `If you expect that, let the command exit with 0, and ${SET_INPUT}`,
  )
}

/** Vitest and Jest begin their own sentences so, for example about thresholds that are not met. */
const OWN_SENTENCE = /^(?:ERROR|Jest): /
/** V8 prints it when a process has no memory left. Then the process ends with SIGABRT. */
const NO_MEMORY = /^FATAL ERROR: .*heap out of memory$/m

/** What the framework said about itself, or reported outside the tests. */
function findOwnWords(end: CommandEnd, report: Report | undefined): string | undefined {
  // If there is no report, no test has written to the output.
  if (report === undefined)
    return NO_MEMORY.exec(end.output)?.[0] ?? (hasFailed(end) ? findError(end.output) : undefined)
  const { errors, said, isComplete } = report
  // V8's line says why a worker died, which is an error for the framework, or why the framework itself did.
  const [noMemory] = (errors.length > 0 || !isComplete ? NO_MEMORY.exec(end.output) : undefined) ?? []
  const outside = [errors.join('\n\n'), noMemory].filter(Boolean).join(': ')
  const own = [outside, ...said.filter((text) => OWN_SENTENCE.test(text))].filter(Boolean).join('\n\n')
  return own || findError(said.join('\n'))
}

/** `Cart.cs(1,10): error CS1513: } expected`, or `cart.cc:3:5: error: expected ';'`. */
const ERROR_OF_COMPILER = /^\S.*: error(?: [A-Z]+\d+)?: \S/
const LINE_OF_STACK = /^\s+(?:at |❯ )/
/** The signs around the last line of pytest: `==== no tests ran in 0.02s ====`. */
const RULES_AROUND_LINE = /^([=*_─-])\1{2,} *| *([=*_─-])\2{2,}$/g

/**
 * The last lines of the output, if the command exited with an error that nothing else names. Many readers show only the first line of a
 * reason. So it has the last line that begins as an error, else the last line that is no line of a stack.
 */
function quoteOutput(end: CommandEnd): { readonly cause?: string; readonly output?: string } {
  if (end.kind !== 'exited' || end.code === 0 || end.output.trim() === '') return {}
  const lines = end.output.trim().split('\n')
  const says = (line: string) => line.trim() !== '' && !LINE_OF_STACK.test(line)
  // A stack may be longer than what is quoted, and the reason is above it.
  const begin = lines.flatMap((line, index) => (says(line) ? index : [])).at(-QUOTED_LINES) ?? 0
  const quoted = lines.slice(begin)
  const isError = (line: string) => FIRST_LINE_OF_ERROR.test(line) || ERROR_OF_COMPILER.test(line)
  const first = quoted.findLast(isError) ?? quoted.findLast(says)
  const all = quoted.join('\n')
  if (first === undefined || first === quoted[0]) return { cause: all }
  return { cause: first.trim().replace(RULES_AROUND_LINE, '') || first, output: `\nIts output ends with:\n${all}` }
}

const FIRST_LINE_OF_ERROR = /^(?:[A-Z]\w*Error(?: \[\w+\])?|Error(?: \[\w+\])?|error): \S/m
/** Vitest has headlines for its own errors, and others for those of tests. */
const HEADLINE_OF_VITEST = /(?<=^⎯+ (?:Startup|Unhandled|Collect|Test Run) (?:Error|Rejection) ⎯+\n)/m
/** `Build failed with 1 error:` of esbuild and Rolldown. Vitest lists different versions behind `, received`. The reason is in the next line. */
const WITHOUT_REASON = /^(.*(?::|, received))\n\s*/
/** An error ends before its stack, or before a blank line. */
const END_OF_ERROR = /\n(?: +(?:at |❯ )|\s*\n)/
/** The first line of the stack, if it is in a file of the project. */
const FRAME_OF_VITEST = /^\n +❯ (?:.* )?((?!node:|node_modules\/|\/)[^\s:]+:\d+):\d+/

/** The first error in a text that no test has written. Many readers show only its first line, so this line gets the reason. */
function findError(output: string): string | undefined {
  const index = [HEADLINE_OF_VITEST, FIRST_LINE_OF_ERROR].map((begin) => output.search(begin)).find((at) => at !== -1)
  if (index === undefined) return undefined
  const text = output.slice(index).replace(WITHOUT_REASON, '$1 ')
  const end = END_OF_ERROR.exec(text)?.index ?? text.length
  const [, place] = FRAME_OF_VITEST.exec(text.slice(end)) ?? []
  const error = text.slice(0, end).trim()
  return (place === undefined ? error : `${error}\nat ${place}`) || undefined
}
