import { fragment } from '../text/safe-text.ts'
import type { InputReader } from './input-reader.ts'

/** Reads the environment overrides: lines or one JSON object. No message shows a value, because a value may be a secret. */
export function readEnvOverrides(inputs: InputReader): Readonly<Record<string, string>> | undefined {
  const given = inputs.textAsWritten('env-overrides')
  const overrides = given.trimStart().startsWith('{') ? readJson(given, inputs) : readLines(given, inputs)
  return overrides?.size ? Object.fromEntries(overrides) : undefined
}

function readLines(given: string, inputs: InputReader): Map<string, string> | undefined {
  const overrides = new Map<string, string>()
  for (const [index, indented] of given.split(/\r?\n/).entries()) {
    const line = indented.trimStart()
    if (line === '' || line.startsWith('#')) continue
    const [, name, value = ''] = /^([^\s=]+)=(.*)$/s.exec(line) ?? []
    if (name === undefined) {
      // The other lines may be parts of the same value, so one message is enough.
      return inputs.problem(
        fragment`Input env-overrides: line ${index + 1} does not begin with a name and =. Values are not shown. Write NAME=value in one line, without white space in the name. For a value of several lines, give a JSON object.`,
      )
    }
    overrides.set(name, value)
  }
  return overrides
}

function readJson(given: string, inputs: InputReader): Map<string, string> {
  const overrides = new Map<string, string>()
  let json: unknown
  try {
    json = JSON.parse(given)
  } catch (cause) {
    // Only the position in V8's message is shown, because the rest of it quotes the text.
    const [, place = 'at an unknown place'] = /\((line \d+ column \d+)\)$/.exec(String(cause)) ?? []
    inputs.problem(
      fragment`Input env-overrides begins with { and is not valid JSON (${place}); values are not shown. Give a JSON object of names and values, or one NAME=value a line.`,
    )
  }
  for (const [name, value] of Object.entries(json ?? {})) {
    if (name === '') {
      inputs.problem(fragment`Input env-overrides: a name in the JSON object is empty. Give each value a name.`)
    } else if (typeof value === 'object') {
      inputs.problem(
        fragment`Input env-overrides: the value of "${name}" is null, an array or an object. Give strings, numbers, true or false. An output or a secret that does not exist is null in toJSON.`,
      )
    } else overrides.set(name, String(value))
  }
  return overrides
}
