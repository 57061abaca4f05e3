import * as v from 'valibot'
import { isObject } from './frameworks/framework.ts'
import { kindOf, quote } from './text.ts'

// Messages of Valibot are the second half of a sentence here. The subject is made from the value's path, which a schema does
// not know. An example is `"port"` + `must be a whole number from 0 to 65535, got 70000.`

/** Only the first problem of a value is reported. Otherwise 0.5 would be "not whole" and "below 1" at once. */
const FIRST_PROBLEM = { abortPipeEarly: true }

type Message = (issue: { readonly input: unknown }) => string

/** For values that may be secret: the message names the kind of the value, not the value. */
export function mustBe(expectation: string): Message {
  return ({ input }) => `must be ${expectation}, got ${kindOf(input)}.`
}

/** For values that a message may show. */
export function mustBeShown(expectation: string): Message {
  return ({ input }) => `must be ${expectation}, got ${quote(input)}.`
}

interface ObjectMessages {
  readonly expectation?: string
  readonly missing?: string
  /** The message for any other field. If it is absent, other fields are left out of the result. */
  readonly unknown?: string | undefined
}

/** An object with these fields. Valibot's own object schemas accept an array. */
export function object<const Entries extends v.ObjectEntries>(entries: Entries, messages: ObjectMessages = {}) {
  const { expectation, missing = 'is missing.', unknown } = messages
  const fields =
    unknown === undefined
      ? v.object(entries, missing)
      : v.strictObject(entries, ({ expected }) => (expected === 'never' ? unknown : missing))
  type Fields = v.ObjectSchema<Entries, undefined>
  return v.pipe(objectLike<v.InferInput<Fields>>(expectation), fields as v.GenericSchema as Fields)
}

/**
 * An object whose fields are all of one kind, as a Map. Valibot's `record` silently drops fields named `constructor` or
 * `__proto__`. Variables and projects may have these names.
 */
export function mapOf<const Item extends v.GenericSchema>(item: Item, name: v.GenericSchema<string> = v.string()) {
  return v.pipe(
    objectLike<Readonly<Record<string, v.InferInput<Item>>>>(),
    v.transform((fields) => new Map(Object.entries(fields))),
    v.map(name, item),
  )
}

/** Numbers and booleans become the text that a process sees. Nested values are refused. */
const VARIABLE = v.pipe(
  v.union([v.string(), v.number(), v.boolean()], mustBe('a string, a number or a boolean')),
  v.transform(String),
  v.check((text) => !text.includes('\0'), 'has a NUL character, which no environment variable can have.'),
)

export const VARIABLES = v.pipe(
  mapOf(VARIABLE, v.pipe(v.string(), v.regex(/^[^=\0]+$/, 'cannot be the name of an environment variable.'))),
  v.transform((variables): Readonly<Record<string, string>> => Object.fromEntries(variables)),
)

/** The path of an issue that a transformation adds. Only the keys are read; the other fields are placeholders. */
export function pathTo(...keys: [string, ...string[]]): [v.ObjectPathItem, ...v.ObjectPathItem[]] {
  const [first, ...others] = keys.map(
    (key): v.ObjectPathItem => ({ type: 'object', origin: 'value', input: {}, key, value: undefined }),
  )
  return [first as v.ObjectPathItem, ...others]
}

type Validated<Output> =
  | { readonly kind: 'valid'; readonly value: Output }
  | { readonly kind: 'invalid'; readonly problems: readonly [string, ...string[]] }

/** Checks a value. Each problem becomes one sentence. `subjectOf` makes its subject from the path to the value. */
export function validate<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  subjectOf: (path: readonly string[]) => string,
): Validated<v.InferOutput<Schema>> {
  const result = v.safeParse(schema, value, FIRST_PROBLEM)
  if (result.success) return { kind: 'valid', value: result.output }
  const [first, ...others] = result.issues
  const sentence = ({ path, message }: v.BaseIssue<unknown>) =>
    `${subjectOf((path ?? []).map(({ key }) => String(key)))} ${message}`
  return { kind: 'invalid', problems: [sentence(first), ...others.map(sentence)] }
}

function objectLike<Input>(expectation = 'an object') {
  return v.custom<Input>(isObject, mustBe(expectation))
}
