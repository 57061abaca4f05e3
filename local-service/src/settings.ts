import * as v from 'valibot'
import { kindOf } from './text.ts'
import { mustBeShown, object } from './validation.ts'

// What the settings of the service, of a project and of a suite are made of.

export const TEXT = v.pipe(v.string(mustBeShown('a text')), v.nonEmpty('must not be empty.'))

export const TEXTS = listOfTexts('a list of texts', () => true)

export const COMMAND = listOfTexts(
  'a command and its arguments, such as ["npm", "ci"]',
  ([program = '']) => program !== '',
)

function listOfTexts(expectation: string, isExpected: (texts: readonly string[]) => boolean) {
  return v.custom<readonly string[]>(
    (value) => Array.isArray(value) && value.every(isText) && isExpected(value),
    ({ input }) => `must be ${expectation}, got ${describeNoList(input)}.`,
  )
}

/** The value itself is not shown: it may be a list of keys. */
function describeNoList(value: unknown): string {
  if (!Array.isArray(value)) return kindOf(value)
  if (value.length === 0) return 'an empty list'
  return value.every(isText)
    ? 'a list whose first text is empty'
    : `a list with ${kindOf(value.find((item) => !isText(item)))}`
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

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
