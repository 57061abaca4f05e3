// The parts of sentences that several files need.

const QUOTED_LIMIT_CHARS = 100

/** A value for a sentence. It is JSON, so that it stays on one line, and it is truncated. */
export function quote(value: unknown): string {
  return truncate(JSON.stringify(value) ?? String(value))
}

function truncate(text: string): string {
  return text.length <= QUOTED_LIMIT_CHARS ? text : `${text.slice(0, QUOTED_LIMIT_CHARS)}…`
}

/** The kind of a JSON value. A sentence that must not show the value names its kind. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `1 test case`, `2 test cases`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

/** A command for a sentence. It stands on one line and is truncated. */
export function quoteCommand(argv: readonly string[]): string {
  return `\`${truncate(argv.join(' ').replace(/\s+/g, ' '))}\``
}

/**
 * Any text for the log. GitHub's runner executes `##[name]` anywhere in a line, and `::name::` at its start. If a step
 * prints the log, the runner must not execute what tests wrote.
 */
export function toLogText(text: string): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(/(?![\n\t])\p{Cc}/gu, '')
  return withoutRunnerCommands(plain).replaceAll('\n', '\n    | ')
}

/** Changes `##[`, with which the runner's commands begin anywhere in a line. */
export function withoutRunnerCommands(text: string): string {
  return text.replaceAll('##[', '## [')
}

/** Anything can be thrown, not only an Error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
