import type { Untrusted } from '../domain/untrusted.ts'

// The one door out for text that is not ours. Each place that text may go to has a template tag: the literal parts
// are ours and stand as written, every interpolated value is made inert for that place. The output functions take
// only what a tag made, so that raw text cannot reach them.

declare const brand: unique symbol

/** One line for the log or the message of an annotation. */
export interface LogLine {
  readonly [brand]: 'log line'
}

type Value = string | number | Untrusted

const LINE_LIMIT = 1000

/** `line\`Run ${id}: ${status}\``: one log line in which no value can start a workflow command or move the cursor. */
export function line(literals: TemplateStringsArray, ...values: readonly (Value | LogLine)[]): LogLine {
  let text = literals[0] ?? ''
  for (const [index, value] of values.entries()) {
    text += toLine(String(value)) + (literals[index + 1] ?? '')
  }
  return text as unknown as LogLine
}

function toLine(text: string): string {
  return text
    .slice(0, LINE_LIMIT)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .replace(/##(?=\[)/g, '# #')
}
