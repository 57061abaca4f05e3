import { type CommandEnd, describeEnd, hasFailed } from '../machine/command.ts'
import { isBad, type Report } from './report.ts'

// Why a framework did not pass, in its own words. A run shows it to its clients, as it shows the output.

/** The reason of a run that did not pass. Undefined if the test cases say everything. */
export function whyNotPassed(
  name: string,
  noTestsArgument: string | undefined,
  end: CommandEnd,
  report: Report | undefined,
): string | undefined {
  const ended = `${name} ${describeEnd(end)}`
  const words = findWords(end, report)
  if (end.kind !== 'exited') return `${ended}${words ?? ''}`
  if (report === undefined) {
    return hasFailed(end) && words
      ? `${name} could not run the tests${words}`
      : `${ended} without a report${words ?? ''}`
  }
  const { testCases, isComplete, problem } = report
  if (problem !== undefined) return `${ended}, and ${problem}${words ?? ''}`
  if (!isComplete) return `${ended} before it had reported all tests${words ?? ''}`
  if (testCases.some(isBad)) return words && `${name} reported an error outside the tests${words}`
  if (testCases.length > 0 || noTestsArgument === undefined) return `${ended}, although no test failed${words ?? ''}`
  if (words !== undefined) return `${name} could not run the tests${words}`
  return `${name} found no tests. If you expect that, add ${noTestsArgument} to its arguments, and set the gate's input pass-with-no-tests to true.`
}

/** The words about the end, as the rest of a sentence. The surest way to find them comes first. */
function findWords(end: CommandEnd, report: Report | undefined): string | undefined {
  const { output } = end
  // If there is no report, no test has written to the output.
  const isOwnOutput = report === undefined && hasFailed(end)
  const sentence =
    findOwnWords(output, report) ??
    (report?.isComplete ? undefined : NO_MEMORY.exec(output)?.[0]) ??
    (isOwnOutput ? findError(output) : undefined) ??
    (report?.isComplete ? undefined : findCrash(output))
  return sentence === undefined ? quoteOutput(end, report) : `: ${sentence}`
}

/** Vitest begins its own sentences so, for example about thresholds that are not met. */
const OWN_SENTENCE = /^ERROR: /
/** V8 prints it when a process has no memory left. Then the process ends with SIGABRT. */
const NO_MEMORY = /^FATAL ERROR: .*heap out of memory$/m

/** What the framework said about itself, or reported outside the tests. V8's line says why a worker died. */
function findOwnWords(output: string, { errors = [], said = [] }: Partial<Report> = {}): string | undefined {
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
/** Fewer lines are read as one sentence. */
const LINES_OF_SENTENCE = 3

/** The last lines of the output, if the framework exited with an error that neither its report nor another way names. */
function quoteOutput(end: CommandEnd, report: Report | undefined): string | undefined {
  if (end.kind !== 'exited' || end.code === 0 || end.output.trim() === '') return undefined
  if (report?.isComplete) {
    // The reason then says that there were no tests.
    const hasNoTests = report.said !== undefined && report.testCases.length === 0
    if (hasNoTests || report.testCases.some(isBad)) return undefined
  }
  const lines = end.output.trim().split('\n')
  const filled = [...lines.keys()].filter((index) => lines[index]?.trim() !== '')
  const quoted = lines.slice(filled.at(-QUOTED_LINES) ?? 0)
  return `${quoted.length > LINES_OF_SENTENCE ? '. Its output ends with:\n' : ': '}${quoted.join('\n')}`
}

/** Vitest prints its own errors below these headlines, and the errors of tests below others. */
const HEADLINE = /^⎯+ (?:Startup|Unhandled|Collect|Test Run) (?:Error|Rejection) ⎯+\n/m
const FIRST_LINE_OF_ERROR = /^(?:[A-Z]\w*Error(?: \[\w+\])?|Error(?: \[\w+\])?|error): \S/m
/** The stack, or a blank line. */
const END_OF_ERROR = /\n(?: +(?:at |❯ )|\s*\n)/
/** The first line of the stack, if it is in a file of the project. */
const FRAME_OF_VITEST = /^\n +❯ (?:.* )?((?!node:|node_modules\/|\/)[^\s:]+:\d+):\d+/
const MISSING_DEPENDENCY = /^ *MISSING DEPENDENCY +(.+)/m

/** The error in a text that no test has written. */
function findError(text: string): string | undefined {
  const headline = HEADLINE.exec(text)
  if (headline !== null) return errorAt(text, headline.index + headline[0].length)
  const first = FIRST_LINE_OF_ERROR.exec(text)
  return MISSING_DEPENDENCY.exec(text)?.[1] ?? (first === null ? undefined : errorAt(text, first.index))
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
