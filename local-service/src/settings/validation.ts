import * as v from 'valibot'
import { isObject } from '../../../src/text/json.ts'
import { quote } from '../text.ts'

/** Numbers and booleans become the text that a process sees. Nested values are refused. */
const VARIABLE = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform(String),
  v.regex(/^[^\0]*$/, 'It has a NUL character, which no environment variable can have'),
)

const NAME_OF_VARIABLE = v.pipe(v.string(), v.regex(/^[^=\0]+$/, 'It cannot be the name of an environment variable'))

/** Environment variables. Valibot's own schemas take an array for an object. */
export const VARIABLES = v.pipe(
  v.custom<Record<string, string | number | boolean>>(isObject, 'It is not an object'),
  v.record(NAME_OF_VARIABLE, VARIABLE),
)

/** One sentence for each problem, on one line. */
export function problemsOf(issues: readonly v.BaseIssue<unknown>[]): string[] {
  return issues.map((issue) => `${quote(v.getDotPath(issue) ?? '')}: ${describe(issue).replace(/\s+/g, ' ')}.`)
}

/** Valibot says of a missing and of an unknown member only "Invalid key". */
function describe({ message, expected, received }: v.BaseIssue<unknown>): string {
  if (!message.startsWith('Invalid key')) return message
  return expected === 'never' ? `The service does not know ${received}` : 'It is missing'
}
