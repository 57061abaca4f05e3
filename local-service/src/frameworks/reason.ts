import { type CommandEnd, describeEnd, exitedWithError, hasSucceeded } from '../machine/command.ts'
import { quoteAll, toSentence } from '../text.ts'
import type { Framework } from './framework.ts'
import { isBad, QUOTED_LINES, type Report } from './report.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

interface Caller extends Pick<Framework, 'noTestsArgument'> {
  /** How messages name what was run. */
  readonly title: string
  /** Whether a command of the project has started the framework, and not the service itself. */
  readonly isProjectCommand: boolean
  /** The arguments of the user. */
  readonly args: readonly string[]
  /** What to know if a command of the project leaves no report, as sentences. */
  readonly hintWithoutReport?: string | undefined
}

const MAY_HAVE_EXITED = 'A test or the configuration may have ended its process, for example with process.exit().'
const LOOK_FOR_IT = 'Look for it in the output, and correct it.'
const SET_INPUT = "set the gate's input pass-with-no-tests to true."

/** What the framework or another tool said. */
interface Words {
  readonly text: string
  /** The last lines of the output, if the text is only one of them. */
  readonly output?: string | undefined
}

/** The reason of a run that did not pass. Undefined if the test cases say everything. */
export function whyNotPassed(caller: Caller, end: CommandEnd, report: Report | undefined): string | undefined {
  const { title, noTestsArgument, isProjectCommand, args } = caller
  const ended = `${title} ${describeEnd(end)}`
  const error = report === undefined ? findErrorInOutput(isProjectCommand, end) : findReportedError(report, end)
  const errorOrOutput = error ?? quoteOutput(end)

  // The end says more than a report that nobody could finish: `vitest was killed by SIGABRT: FATAL ERROR: Reached heap limit`
  if (end.kind === 'cut-off') return say(ended, errorOrOutput)
  if (report === undefined) return whyNoReport(caller, end, errorOrOutput)
  const hasFailedTests = report.testCases.some(isBad)
  if (report.problem !== undefined) return sayProblem(title, { ...report, problem: report.problem }, end, error)
  if (!report.isComplete) {
    const advice = hasSucceeded(end) ? [MAY_HAVE_EXITED, LOOK_FOR_IT] : []
    return say(`${ended} before it had reported all tests`, errorOrOutput, ...advice)
  }
  if (hasFailedTests) return error && say(`${title} reported an error outside the tests`, error)
  // `vitest exited with code 1, although no test failed: ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)`
  if (report.testCases.length > 0) return say(`${ended}, although no test failed`, errorOrOutput)
  if (error !== undefined) return say(`${title} could not run the tests`, error)
  if (noTestsArgument !== undefined) {
    const given = args.length === 0 ? '' : ` with the arguments ${quoteAll(args)}`
    return `${title} found no tests${given}. If you expect that, add ${noTestsArgument} to its arguments, and ${SET_INPUT}`
  }
  const advice = `If you expect that, let the command exit with 0, and ${SET_INPUT}`
  return say(`${ended}, and its report has no test`, errorOrOutput, advice)
}

/** `sentence: words`, further sentences, and the end of the output. Many readers show only the first line, so it has all that fits into a line. */
function say(sentence: string, words: Words | undefined, ...further: readonly string[]): string {
  if (words === undefined) return [toSentence(sentence), ...further].join(' ')
  const lines = [`${sentence}: ${words.text}`]
  if (further.length > 0) {
    const next = further.join(' ')
    // If the error has several lines, the other sentences stand in a line below it.
    if (words.text.includes('\n')) lines.push(next)
    else lines[0] = `${toSentence(`${sentence}: ${words.text}`)} ${next}`
  }
  if (words.output !== undefined) lines.push('The output ends with:', words.output)
  return lines.join('\n')
}

function whyNoReport(
  { title, isProjectCommand, hintWithoutReport }: Caller,
  end: CommandEnd,
  words: Words | undefined,
): string {
  const sentence = `${title} ${describeEnd(end)} without a report`
  const hints = isProjectCommand && hintWithoutReport !== undefined ? [hintWithoutReport] : []
  if (hasSucceeded(end)) return say(sentence, words, MAY_HAVE_EXITED, ...hints, LOOK_FOR_IT)
  // A signal ended it, or it could not be started.
  if (!exitedWithError(end)) return say(sentence, words)
  // A command of the project may have run the tests.
  if (isProjectCommand || words === undefined) return say(sentence, words, ...hints)
  // `vitest could not run the tests: Error: Cannot find package`
  return say(`${title} could not run the tests`, words)
}

/**
 * Something is wrong with the report. The first row that applies says what the message is like. Words are an error, else the end of the output. The
 * output is not quoted if the command exited with 0, nor if a complete report has failed tests, because these say why the command failed.
 *
 * | the report | the command | words | the message |
 * | --- | --- | --- | --- |
 * | complete, no failed test | failed | some | `go test exited with code 1: go: errors parsing go.mod. The report …` |
 * | complete, no failed test | succeeded, or there was none | an error | `jest reported an error outside the tests: no database. The report …` |
 * | any | succeeded, or there was none | none | `The report "a.xml" counts 2 failed and lists 0.` |
 * | any other | | | `No file matches "a.xml". pytest exited with code 127: pytest: command not found` |
 */
function sayProblem(
  title: string,
  report: Report & { readonly problem: string },
  end: CommandEnd,
  error: Words | undefined,
): string {
  const { problem, advice, isComplete, testCases } = report
  const hasFailedTests = testCases.some(isBad)
  const ended = `${title} ${describeEnd(end)}`
  const next = advice === undefined ? [] : [advice]
  const isFine = hasSucceeded(end) || end.kind === 'no-command'
  const words = error ?? (isComplete && hasFailedTests ? undefined : quoteOutput(end))
  if (isComplete && !hasFailedTests && words !== undefined)
    return say(isFine ? `${title} reported an error outside the tests` : ended, words, problem, ...next)
  if (isFine && words === undefined) return [problem, ...next].join(' ')
  return say(`${problem} ${ended}`, words, ...next)
}

/** Vitest and Jest begin their own sentences so, for example about thresholds that are not met. */
const SENTENCE_OF_FRAMEWORK = /^(?:ERROR|Jest): /
/** V8 prints it when a process has no memory left. Then the process ends with SIGABRT. */
const NO_MEMORY = /^FATAL ERROR: .*heap out of memory$/m

/** What the framework said about itself, if there is no report. */
function findErrorInOutput(isProjectCommand: boolean, end: CommandEnd): Words | undefined {
  const noMemory = findNoMemory(end)
  if (noMemory !== undefined) return { text: noMemory }
  // If the service itself started the framework and there is no report, no test has begun. So the output is the framework's.
  return !isProjectCommand && exitedWithError(end) ? findError(end.output) : undefined
}

function findNoMemory({ output }: CommandEnd): string | undefined {
  return NO_MEMORY.exec(output)?.[0]
}

/**
 * What the framework said about itself, or reported outside the tests, if there is a report. For example:
 *
 * | the errors of the report | what else is there | the result |
 * | --- | --- | --- |
 * | `Worker exited` | V8's line in the output | `Worker exited: FATAL ERROR: … heap out of memory` |
 * | none, and the report is not complete | V8's line in the output | `FATAL ERROR: … heap out of memory` |
 * | `Error: no database` | the framework said `ERROR: Coverage …` | both, with an empty line between them |
 * | none | the framework said something else | the first error in it |
 */
function findReportedError({ errors, said, isComplete }: Report, end: CommandEnd): Words | undefined {
  const texts = errors.filter((text) => text !== '')
  const noMemory = findNoMemory(end)
  // If a worker died, the report has an error, whose text may be empty. If the framework itself died, the report is not complete.
  if (noMemory !== undefined && (errors.length > 0 || !isComplete)) {
    const last = texts.pop()
    texts.push(last === undefined ? noMemory : `${last}: ${noMemory}`)
  }
  texts.push(...said.filter((text) => SENTENCE_OF_FRAMEWORK.test(text)))
  return texts.length > 0 ? { text: texts.join('\n\n') } : findError(said.join('\n'))
}

/** `Cart.cs(1,10): error CS1513: } expected`, or `cart.cc:3:5: error: expected ';'`. */
const ERROR_OF_COMPILER = /^\S.*: error(?: [A-Z]+\d+)?: \S/
const LINE_OF_STACK = /^\s+(?:at |❯ )/
/** Vitest prints it if nothing failed: ` RUN  v5.1.1 /shop`, ` ✓ a.test.js (1 test) 4ms`, ` Test Files  1 passed (1)`, `   Duration  257ms`. */
const PROGRESS_OF_VITEST = /^ *(?:RUN {2}v|✓ |(?:Test Files|Tests|Start at|Duration) {2})/
/** npm prints such lines behind the output of each script that failed. */
const LINE_OF_NPM = /^npm (?:error|ERR!)(?! Missing script)/
/** The signs around the last line of pytest: `==== no tests ran in 0.02s ====`. */
const RULES_AROUND_LINE = /^([=*_─-])\1{2,} *| *([=*_─-])\2{2,}$/g

/**
 * The last lines of the output, if the command exited with any other code than 0, also with 128 and more. Many readers show only the first line of a
 * reason. So it has the last line that begins as an error, else the last line that may be a reason. Undefined if there is none.
 */
function quoteOutput(end: CommandEnd): Words | undefined {
  if (end.kind !== 'exited' || end.code === 0 || end.output.trim() === '') return undefined
  const lines = end.output.trim().split('\n')
  const noReasons = [/^\s*$/, LINE_OF_STACK, PROGRESS_OF_VITEST, LINE_OF_NPM]
  const says = (line: string) => !noReasons.some((kind) => kind.test(line))
  // The quote has the last ten such lines, and the other lines between them. Otherwise, a long stack would push the reason out.
  const begin = lines.flatMap((line, index) => (says(line) ? index : [])).at(-QUOTED_LINES) ?? 0
  const quoted = lines.slice(begin)
  const isError = (line: string) => FIRST_LINE_OF_ERROR.test(line) || ERROR_OF_COMPILER.test(line)
  const headline = quoted.findLast(isError) ?? quoted.findLast(says)
  if (headline === undefined) return undefined
  const all = quoted.join('\n')
  if (headline === quoted[0]) return { text: all }
  return { text: headline.trim().replace(RULES_AROUND_LINE, '') || headline, output: all }
}

/** `fatal` is git's word, for example if Vitest asks git for the changed files. */
const FIRST_LINE_OF_ERROR = /^(?:[A-Z]\w*Error(?: \[\w+\])?|Error(?: \[\w+\])?|error|fatal): \S/m
/** Vitest has headlines for its own errors, and others for those of tests. */
const HEADLINE_OF_VITEST = /(?<=^⎯+ (?:Startup|Unhandled|Collect|Test Run) (?:Error|Rejection) ⎯+\n)/m
/**
 * First lines without a reason, which is in the next line. esbuild and Rolldown: `Build failed with 1 error:`. Vitest, if blobs are of different
 * versions: `All must have the same Vitest version, received`.
 */
const WITHOUT_REASON = /^(.*(?::|, received))\n\s*/
/** An error ends before its stack, or before a blank line. */
const END_OF_ERROR = /\n(?: +(?:at |❯ )|\s*\n)/
/** The first line of the stack, if it is in a file of the project. */
const FRAME_OF_VITEST = /^\n +❯ (?:.* )?((?!node:|node_modules\/|\/)[^\s:]+:\d+):\d+/

/** The first error in a text that no test has written. Many readers show only its first line, so this line gets the reason. */
function findError(output: string): Words | undefined {
  const index = [HEADLINE_OF_VITEST, FIRST_LINE_OF_ERROR].map((begin) => output.search(begin)).find((at) => at !== -1)
  if (index === undefined) return undefined
  const text = output.slice(index).replace(WITHOUT_REASON, '$1 ')
  const end = END_OF_ERROR.exec(text)?.index ?? text.length
  const [, place] = FRAME_OF_VITEST.exec(text.slice(end)) ?? []
  const error = text.slice(0, end).trim()
  if (place !== undefined) return { text: `${error}\nat ${place}` }
  return error === '' ? undefined : { text: error }
}
