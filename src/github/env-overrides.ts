import { parseEnv } from 'node:util'
import { type LogLine, logLine } from '../report/safe-text.ts'

type Wrong = (sentence: LogLine) => undefined

/** A line of `NAME=value`, a comment or nothing, as `parseEnv` takes them. */
const ENV_LINE = /^\s*(export\s+)?[^=\s][^=]*=|^\s*#|^\s*$/

/**
 * The environment overrides as names and values: `NAME=value` lines or one JSON object. A sentence about what is wrong
 * never shows a value, which may be a secret.
 */
export function parseEnvOverrides(given: string, wrong: Wrong): Readonly<Record<string, string>> | undefined {
  if (given === '') return undefined
  return given.startsWith('{') ? parseJsonOverrides(given, wrong) : parseLines(given, wrong)
}

function parseLines(given: string, wrong: Wrong): Readonly<Record<string, string>> | undefined {
  // parseEnv passes over what it does not understand; quoted values may span lines and hold anything.
  const unquoted = given.replace(
    /^([^\S\n]*[^=#\s][^=\n]*=)[^\S\n]*("[^"]*"|'[^']*'|`[^`]*`)/gm,
    (_, name: string, value: string) => name + value.replace(/[^\n]/g, ''),
  )
  const strange = unquoted.split(/\r?\n/).findIndex((text) => !ENV_LINE.test(text))
  if (strange !== -1) {
    return wrong(
      logLine`Input env-overrides: line ${strange + 1} has no NAME= at its beginning (values are not shown). Give one NAME=value a line, or a JSON object.`,
    )
  }
  const overrides = parseEnv(given) as Record<string, string>
  return Object.keys(overrides).length === 0 ? undefined : overrides
}

function parseJsonOverrides(given: string, wrong: Wrong): Readonly<Record<string, string>> | undefined {
  let json: Record<string, unknown>
  try {
    json = JSON.parse(given, keepNumbersAsWritten)
  } catch (cause) {
    // Of V8's message the place alone: the rest of it quotes the text.
    const [, place] = /\((line \d+ column \d+)\)$/.exec(String(cause)) ?? []
    const where = place === undefined ? logLine`` : logLine` (${place})`
    return wrong(
      logLine`Input env-overrides begins with { and is not valid JSON${where}; values are not shown. Give a JSON object of names and values, or one NAME=value a line.`,
    )
  }
  const overrides = new Map<string, string>()
  let isWrong = false
  for (const [name, value] of Object.entries(json)) {
    if (name === '') {
      isWrong = true
      wrong(logLine`Input env-overrides: a name in the JSON object is empty. Give each value a name.`)
    } else if (value instanceof NumberAsWritten) overrides.set(name, value.source)
    else if (typeof value === 'string' || typeof value === 'boolean') overrides.set(name, String(value))
    else {
      isWrong = true
      const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : 'an object'
      const cause = value === null ? logLine` An output or a secret that does not exist is null in toJSON.` : logLine``
      wrong(
        logLine`Input env-overrides: the value of "${name}" is ${kind}. Give strings, numbers, true or false.${cause}`,
      )
    }
  }
  return isWrong || overrides.size === 0 ? undefined : Object.fromEntries(overrides)
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
