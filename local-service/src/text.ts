// The parts of sentences that several files need.

const QUOTED_LIMIT_CHARS = 100

/** A value for a sentence: as JSON, so that it stays on one line, and truncated. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= QUOTED_LIMIT_CHARS ? text : `${text.slice(0, QUOTED_LIMIT_CHARS)}…`
}

/** What kind of JSON value this is, for a sentence that must not show the value itself. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `1 test case`, `2 test cases`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
