import * as v from 'valibot'
import { isObject } from './framework.ts'
import { kindOf, quote } from './text.ts'

// Valibot, with messages that are the second half of a sentence: the subject is made of the value's path, which a
// schema does not know. `"port"` + `must be a whole number from 0 to 65535, got 70000.`

/** Of each value: 0.5 is neither whole nor at least 1, and the sentence is the same. */
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

type ObjectOf<Entries extends v.ObjectEntries> = v.ObjectSchema<Entries, undefined>

interface ObjectMessages {
  readonly expectation?: string
  readonly missing?: string
  /** For a field that is none of these. Absent: such fields are left out of the result. */
  readonly unknown?: string
}

/**
 * An object with these fields. Valibot's own object schemas accept an array, and of several fields that are not known
 * they report the first.
 */
export function object<const Entries extends v.ObjectEntries>(entries: Entries, messages: ObjectMessages = {}) {
  const { expectation, missing = 'is missing.', unknown } = messages
  return v.pipe(
    objectLike<v.InferInput<ObjectOf<Entries>>>(expectation),
    v.rawTransform(({ dataset, addIssue, NEVER }): v.InferOutput<ObjectOf<Entries>> => {
      for (const name of Object.keys(dataset.value)) {
        if (unknown !== undefined && !Object.hasOwn(entries, name)) addIssue({ message: unknown, path: pathTo(name) })
      }
      const result = v.safeParse(v.object(entries, missing), dataset.value, FIRST_PROBLEM)
      for (const { message, path } of result.issues ?? []) addIssue({ message, path })
      return result.success ? result.output : NEVER
    }),
  )
}

/**
 * An object whose fields are all of one kind, as a Map. Valibot's `record` drops fields named `constructor` or
 * `__proto__` without a word, and both may be names of variables or projects.
 */
export function mapOf<const Item extends v.GenericSchema>(
  item: Item,
  nameProblem?: (name: string) => string | undefined,
) {
  return v.pipe(
    objectLike<Readonly<Record<string, v.InferInput<Item>>>>(),
    v.rawTransform(({ dataset, addIssue }): Map<string, v.InferOutput<Item>> => {
      const map = new Map<string, v.InferOutput<Item>>()
      for (const [name, value] of Object.entries(dataset.value)) {
        const problem = nameProblem?.(name)
        if (problem !== undefined) addIssue({ message: problem })
        const result = v.safeParse(item, value, FIRST_PROBLEM)
        if (result.success) map.set(name, result.output)
        for (const { message, path = [] } of result.issues ?? []) {
          addIssue({ message, path: [...pathTo(name), ...path] })
        }
      }
      return map
    }),
  )
}

/** Linux starts no process with a variable that is longer: `MAX_ARG_STRLEN`, less the byte that ends the text. */
const VARIABLE_LIMIT_BYTES = 131_071

/** Numbers and booleans become the text that a process sees; anything nested is refused. */
const VARIABLE = v.pipe(
  v.union([v.string(), v.number(), v.boolean()], mustBe('a string, a number or a boolean')),
  v.transform(String),
  v.check((text) => !text.includes('\0'), 'has a NUL character, which no environment variable can have.'),
)

/** Environment variables by name. */
export const VARIABLES = v.pipe(
  mapOf(VARIABLE, (name) =>
    /^[^=\0]+$/.test(name) ? undefined : `has ${quote(name)}, which cannot be the name of an environment variable.`,
  ),
  v.rawTransform(({ dataset: { value: map }, addIssue }): Readonly<Record<string, string>> => {
    for (const [name, value] of map) {
      const sizeBytes = Buffer.byteLength(`${name}=${value}`)
      if (sizeBytes > VARIABLE_LIMIT_BYTES) {
        const message = `is too large: a variable can have ${VARIABLE_LIMIT_BYTES} bytes with its name, got ${sizeBytes}.`
        addIssue({ message, path: pathTo(name) })
      }
    }
    return Object.fromEntries(map)
  }),
)

/** The path of an issue that a transformation adds. Of its items, the sentences use the key alone. */
export function pathTo(...keys: [string, ...string[]]): [v.ObjectPathItem, ...v.ObjectPathItem[]] {
  const [first, ...others] = keys.map(
    (key): v.ObjectPathItem => ({ type: 'object', origin: 'value', input: {}, key, value: undefined }),
  )
  return [first as v.ObjectPathItem, ...others]
}

export type Validated<Output> =
  | { readonly kind: 'valid'; readonly value: Output }
  | { readonly kind: 'invalid'; readonly problems: readonly [string, ...string[]] }

/** Checks a value; each problem becomes one sentence, whose subject `subjectOf` makes of the path to the value. */
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
