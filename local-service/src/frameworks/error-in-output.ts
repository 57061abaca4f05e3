// What a framework prints about itself before it can write a report. A run shows it to its clients, so only the text of an error
// is taken, and nothing else of the output.

/** Vitest prints its own errors below these headlines, and the errors of tests below others. */
const HEADLINE = /^⎯+ (?:Startup|Unhandled|Collect|Test Run) Error ⎯+\n/m
const FIRST_LINE_OF_ERROR = /^(?:[A-Z]\w*Error(?: \[\w+\])?|Error(?: \[\w+\])?|error): \S/m
/** The stack, or a blank line. */
const END_OF_ERROR = /\n(?: +(?:at |❯ )|\s*\n)/
const MISSING_DEPENDENCY = /^ *MISSING DEPENDENCY +(.+)/m
const THRESHOLDS = /^ERROR: Coverage .+/gm

/** Why Vitest ran no tests although it found no mistake in a test. Undefined if it printed no such error. */
export function findErrorBelowHeadline(output: string): string | undefined {
  const headline = HEADLINE.exec(output)
  return headline === null ? undefined : errorAt(output, headline.index + headline[0].length)
}

/** Why a framework could not start. Undefined if it printed no error. */
export function findStartError(output: string): string | undefined {
  const missing = MISSING_DEPENDENCY.exec(output)?.[1]
  const first = FIRST_LINE_OF_ERROR.exec(output)
  return findErrorBelowHeadline(output) ?? missing ?? (first === null ? undefined : errorAt(output, first.index))
}

/** The coverage thresholds that Vitest says are not met. */
export function findMissedThresholds(output: string): string | undefined {
  return output.match(THRESHOLDS)?.join('\n')
}

function errorAt(output: string, index: number): string | undefined {
  // Many readers show only the first line. The first line of esbuild and of Rolldown is "Build failed with 1 error:", without the
  // reason. Rolldown has a blank line behind it.
  const text = output.slice(index).replace(/^(.*:)\n\s*/, '$1 ')
  return text.slice(0, END_OF_ERROR.exec(text)?.index).trim() || undefined
}
