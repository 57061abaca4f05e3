import * as v from 'valibot'
import { mustBe, mustBeShown, object } from './validation.ts'

// The parts of the settings of the service, of a project and of a suite.

export const TEXT = v.pipe(v.string(mustBeShown('a text')), v.nonEmpty('must not be empty.'))

/** A list of texts. No message about the list shows the texts. */
export function textsThat(pattern: RegExp, problem: string): v.GenericSchema<readonly string[]> {
  return v.array(v.pipe(v.string(mustBe('a text')), v.regex(pattern, problem)), mustBe('a list of texts'))
}

export const TEXTS: v.GenericSchema<readonly string[]> = v.array(v.string(mustBe('a text')), mustBe('a list of texts'))

const A_COMMAND = 'a command and its arguments, such as ["npm", "ci"]'

export const COMMAND: v.GenericSchema<readonly string[]> = v.pipe(
  v.array(v.string(mustBe('a text')), mustBe(A_COMMAND)),
  v.check(([program]) => Boolean(program), `must be ${A_COMMAND}.`),
)

export function numberFrom(least: number, most: number) {
  const message = mustBeShown(`a number from ${least} to ${most}`)
  return v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message))
}

export function wholeNumberFrom(least: number, most: number) {
  const message = mustBeShown(`a whole number from ${least} to ${most}`)
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

/** An object of settings. An unknown setting is refused, because it is most often a typing error. */
export function settingsObject<const Entries extends v.ObjectEntries>(entries: Entries, missing = 'is missing.') {
  return object(entries, {
    missing,
    unknown: `is not a setting. The settings are ${Object.keys(entries).join(', ')}.`,
  })
}
