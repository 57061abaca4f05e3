import { type CommandEnd, describeEnd, hasFailed, hasSucceeded } from '../machine/command.ts'
import type { Framework, FrameworkCall } from './framework.ts'
import { isBad, QUOTED_LINES, type Report } from './report.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

type Caller = Pick<FrameworkCall, 'title' | 'withoutReport'> & Pick<Framework, 'noTestsArgument'>

const MAY_HAVE_EXITED = 'A test or the configuration may have ended its process, for example with process.exit().'
const LOOK_FOR_IT = 'Look for it in the output, and correct it'
const SET_INPUT = "set the gate's input pass-with-no-tests to true."

/** The first line and further lines of a message: `sentence: cause`, then the advice, then the end of the output. */
interface Reason {
  readonly sentence: string
  readonly cause?: Cause | undefined
  readonly advice?: string | undefined
}

interface Cause {
  readonly text: string
  /** The last lines of the output, if the text is only one of them. */
  readonly output?: string | undefined
}

/** The reason of a run that did not pass. Undefined if the test cases say everything. */
export function whyNotPassed(caller: Caller, end: CommandEnd, report: Report | undefined): string | undefined {
  const reason = findReason(caller, end, report)
  if (reason === undefined) return undefined
  const { sentence, cause, advice } = reason
  const first = cause === undefined ? sentence : `${sentence}: ${cause.text}`
  const next = advice === undefined ? '' : `${cause === undefined ? '. ' : '\n'}${advice}`
  const output = cause?.output === undefined ? '' : `\nIts output ends with:\n${cause.output}`
  return `${first}${next}${output}`
}

/** How a run ended that did not pass. */
type Ending =
  | { readonly kind: 'cut-off' | 'no-report' | 'incomplete' | 'failed-tests' | 'no-failed-test' | 'no-tests' }
  /** Something is wrong with the report. */
  | { readonly kind: 'problem'; readonly problem: string; readonly report: Report }

function endingOf(end: CommandEnd, report: Report | undefined): Ending {
  // The end says more than a report that nobody could finish.
  if (end.kind === 'cut-off') return { kind: 'cut-off' }
  if (report === undefined) return { kind: 'no-report' }
  if (report.problem !== undefined) return { kind: 'problem', problem: report.problem, report }
  if (!report.isComplete) return { kind: 'incomplete' }
  if (report.testCases.some(isBad)) return { kind: 'failed-tests' }
  return { kind: report.testCases.length > 0 ? 'no-failed-test' : 'no-tests' }
}

function findReason(caller: Caller, end: CommandEnd, report: Report | undefined): Reason | undefined {
  const { title, noTestsArgument } = caller
  const ended = `${title} ${describeEnd(end)}`
  const couldNotRun = `${title} could not run the tests`
  const own = findOwnWords(caller, end, report)
  const cause = own ?? quoteOutput(end)
  const ending = endingOf(end, report)
  switch (ending.kind) {
    case 'cut-off':
      // `vitest was killed by SIGABRT: FATAL ERROR: Reached heap limit`
      return { sentence: ended, cause }
    case 'no-report': {
      const { withoutReport } = caller
      const sentence = `${ended} without a report`
      if (hasSucceeded(end)) {
        const advice = [MAY_HAVE_EXITED, withoutReport, LOOK_FOR_IT].filter((text) => text !== undefined).join(' ')
        return { sentence, cause, advice }
      }
      if (!hasFailed(end)) return { sentence, cause }
      // `vitest could not run the tests: Error: Cannot find package`. A command of the project may have run them.
      return withoutReport === undefined && cause !== undefined
        ? { sentence: couldNotRun, cause }
        : { sentence, cause, advice: withoutReport }
    }
    case 'problem':
      return reasonOfProblem(ending, end, { ended, own, cause })
    case 'incomplete': {
      const advice = hasSucceeded(end) ? `${MAY_HAVE_EXITED} ${LOOK_FOR_IT}` : undefined
      return { sentence: `${ended} before it had reported all tests`, cause, advice }
    }
    case 'failed-tests':
      return own && { sentence: `${title} reported an error outside the tests`, cause: own }
    case 'no-failed-test':
      // `vitest exited with code 1, although no test failed: ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)`
      return { sentence: `${ended}, although no test failed`, cause }
    case 'no-tests': {
      if (own !== undefined) return { sentence: couldNotRun, cause }
      const expected = 'If you expect that,'
      return noTestsArgument === undefined
        ? {
            sentence: `${ended}, and its report has no test`,
            cause,
            advice: `${expected} let the command exit with 0, and ${SET_INPUT}`,
          }
        : {
            sentence: `${title} found no tests`,
            advice: `${expected} add ${noTestsArgument} to its arguments, and ${SET_INPUT}`,
          }
    }
  }
}

/**
 * The first row that applies decides:
 *
 * | the report | the first line |
 * | --- | --- |
 * | does not say all about the tests | `pytest exited with code 127, and no file matches "a.xml": pytest: command not found` |
 * | has failed tests, which say why | `pytest exited with code 1, and its report "a.xml" counts 2 failed and lists 1` |
 * | has no failed test, and the tool says why it failed | `go test exited with code 1: go: errors parsing go.mod` |
 * | has no failed test | `go test exited with code 0, and its report "a.xml" counts 2 failed and lists 0` |
 *
 * In the third row, the next line is `Besides, its report "a.xml" counts 2 failed and lists 0`.
 */
function reasonOfProblem(
  { problem, report }: Extract<Ending, { kind: 'problem' }>,
  end: CommandEnd,
  { ended, own, cause }: { readonly ended: string; readonly own: Cause | undefined; readonly cause: Cause | undefined },
): Reason {
  const { advice, isComplete, testCases } = report
  const sentence = `${ended}, ${end.kind === 'exited' ? 'and' : 'because'} ${problem}`
  if (!isComplete) return { sentence, cause, advice }
  if (testCases.some(isBad)) return { sentence, cause: own, advice }
  if (!hasFailed(end) || cause === undefined) return { sentence, cause, advice }
  const besides = `Besides, ${problem}`
  return { sentence: ended, cause, advice: advice === undefined ? besides : `${besides}. ${advice}` }
}

/** Vitest and Jest begin their own sentences so, for example about thresholds that are not met. */
const OWN_SENTENCE = /^(?:ERROR|Jest): /
/** V8 prints it when a process has no memory left. Then the process ends with SIGABRT. */
const NO_MEMORY = /^FATAL ERROR: .*heap out of memory$/m

/** What the framework said about itself, or reported outside the tests. */
function findOwnWords({ withoutReport }: Caller, end: CommandEnd, report: Report | undefined): Cause | undefined {
  const text = report === undefined ? findOwnError(withoutReport, end) : findReportedError(report, end)
  return text === undefined ? undefined : { text }
}

/** If there is no report. */
function findOwnError(withoutReport: string | undefined, end: CommandEnd): string | undefined {
  const noMemory = findNoMemory(end)
  if (noMemory !== undefined) return noMemory
  // If the service started the framework, no test began. But if a command of the project did, the tests may have written the output.
  return withoutReport === undefined && hasFailed(end) ? findError(end.output) : undefined
}

function findNoMemory({ output }: CommandEnd): string | undefined {
  return NO_MEMORY.exec(output)?.[0]
}

/**
 * If there is a report. For example:
 *
 * | the errors of the report | what else is there | the result |
 * | --- | --- | --- |
 * | `Worker exited` | V8's line in the output | `Worker exited: FATAL ERROR: … heap out of memory` |
 * | none, and the report is not complete | V8's line in the output | `FATAL ERROR: … heap out of memory` |
 * | `Error: no database` | the framework said `ERROR: Coverage …` | both, with an empty line between them |
 * | none | the framework said something else | the first error in it |
 */
function findReportedError({ errors, said, isComplete }: Report, end: CommandEnd): string | undefined {
  const texts = errors.filter((text) => text !== '')
  const noMemory = findNoMemory(end)
  // V8's line says why a worker died, which is an error for the framework, or why the framework itself died.
  if (noMemory !== undefined && (errors.length > 0 || !isComplete)) {
    const last = texts.pop()
    texts.push(last === undefined ? noMemory : `${last}: ${noMemory}`)
  }
  texts.push(...said.filter((text) => OWN_SENTENCE.test(text)))
  return texts.length > 0 ? texts.join('\n\n') : findError(said.join('\n'))
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
function quoteOutput(end: CommandEnd): Cause | undefined {
  if (end.kind !== 'exited' || end.code === 0 || end.output.trim() === '') return undefined
  const lines = end.output.trim().split('\n')
  const says = (line: string) => line.trim() !== '' && !LINE_OF_STACK.test(line)
  // A stack may be longer than what is quoted, and the reason is above it.
  const begin = lines.flatMap((line, index) => (says(line) ? index : [])).at(-QUOTED_LINES) ?? 0
  const quoted = lines.slice(begin)
  const isError = (line: string) => FIRST_LINE_OF_ERROR.test(line) || ERROR_OF_COMPILER.test(line)
  const first = quoted.findLast(isError) ?? quoted.findLast(says)
  const all = quoted.join('\n')
  if (first === undefined || first === quoted[0]) return { text: all }
  return { text: first.trim().replace(RULES_AROUND_LINE, '') || first, output: all }
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
