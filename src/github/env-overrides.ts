import { parseEnv } from 'node:util'
import { logLine } from '../text/safe-text.ts'
import type { InputReader } from './input-reader.ts'

type Overrides = Readonly<Record<string, string>>

/**
 * The environment overrides as names and values: `NAME=value` lines or one JSON object. A message about a problem
 * never shows a value, which may be a secret.
 */
export function readEnvOverrides(inputs: Pick<InputReader, 'text' | 'problem'>): Overrides | undefined {
  const given = inputs.text('env-overrides')
  if (given === '') return undefined
  const overrides = given.startsWith('{') ? readJson(given, inputs) : readLines(given, inputs)
  return overrides === undefined || Object.keys(overrides).length === 0 ? undefined : overrides
}

function readLines(given: string, inputs: Pick<InputReader, 'problem'>): Overrides | undefined {
  // As parseEnv does, which passes over each line that it does not understand.
  const text = given.replaceAll('\r', '')
  const badLine = firstBadLine(text)
  if (badLine === undefined) return parseEnv(text) as Record<string, string>
  return inputs.problem(
    logLine`Input env-overrides: line ${badLine} has no NAME= at its beginning (values are not shown). Give one NAME=value a line, or a JSON object.`,
  )
}

/** The number of the first line that is no `NAME=value`, comment or empty line. Only ever moves forward in the text. */
function firstBadLine(text: string): number | undefined {
  for (let start = 0, line = 1; start < text.length; line++) {
    let end = lineEnd(text, start)
    const content = text.slice(start, end).trim()
    if (content !== '' && !content.startsWith('#')) {
      const equals = text.indexOf('=', start)
      if (content.startsWith('=') || equals === -1 || equals >= end) return line
      const value = text.slice(equals + 1, end).trimStart()
      const closing = closingQuote(text, end - value.length)
      if (closing !== -1) {
        line += text.slice(end, closing).split('\n').length - 1
        end = lineEnd(text, closing)
      }
    }
    start = end + 1
  }
  return undefined
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Where a quoted value that begins at `opening` ends; -1 if it is not quoted, or the quotation mark stands alone. */
function closingQuote(text: string, opening: number): number {
  const quote = text.charAt(opening)
  return '"\'`'.includes(quote) && quote !== '' ? text.indexOf(quote, opening + 1) : -1
}

function readJson(given: string, inputs: Pick<InputReader, 'problem'>): Overrides | undefined {
  let json: Record<string, unknown>
  try {
    json = JSON.parse(given, keepNumbersAsWritten)
  } catch (cause) {
    // Only the position in V8's message is shown, because the rest of it quotes the text.
    const [, place] = /\((line \d+ column \d+)\)$/.exec(String(cause)) ?? []
    const location = place === undefined ? logLine`` : logLine` (${place})`
    return inputs.problem(
      logLine`Input env-overrides begins with { and is not valid JSON${location}; values are not shown. Give a JSON object of names and values, or one NAME=value a line.`,
    )
  }
  const overrides = new Map<string, string>()
  for (const [name, value] of Object.entries(json)) {
    if (name === '') {
      inputs.problem(logLine`Input env-overrides: a name in the JSON object is empty. Give each value a name.`)
    } else if (value instanceof NumberAsWritten) overrides.set(name, value.source)
    else if (typeof value === 'string' || typeof value === 'boolean') overrides.set(name, String(value))
    else {
      const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : 'an object'
      const cause = value === null ? logLine` An output or a secret that does not exist is null in toJSON.` : logLine``
      inputs.problem(
        logLine`Input env-overrides: the value of "${name}" is ${kind}. Give strings, numbers, true or false.${cause}`,
      )
    }
  }
  return Object.fromEntries(overrides)
}

class NumberAsWritten {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** 1.0 and 12345678901234567890 are meant as written, not as JavaScript's nearest number. */
function keepNumbersAsWritten(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new NumberAsWritten(context?.source ?? String(value)) : value
}
