import * as v from 'valibot'
import { mustBeShown, object } from './validation.ts'

// What the settings of the service, of a project and of a suite are made of.

export const TEXT = v.pipe(v.string(mustBeShown('a text')), v.nonEmpty('must not be empty.'))

/** What came instead is not shown: it may be a list of keys. */
export const TEXTS = v.custom<readonly string[]>(
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  'must be a list of texts.',
)

export const COMMAND = v.pipe(
  TEXTS,
  v.check(([program = '']) => program !== '', 'must be a command and its arguments, such as ["npm", "ci"].'),
)

export function numberFrom(least: number, most: number) {
  const message = mustBeShown(`a number from ${least} to ${most}`)
  return v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message))
}

export function wholeNumberFrom(least: number, most: number) {
  const message = mustBeShown(`a whole number from ${least} to ${most}`)
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

/** An object of settings: one that is not known is refused, because it is most often a typing error. */
export function settingsObject<const Entries extends v.ObjectEntries>(entries: Entries, missing?: string) {
  const unknown = `is not a setting. The settings are ${Object.keys(entries).join(', ')}.`
  return object(entries, missing === undefined ? { unknown } : { unknown, missing })
}
