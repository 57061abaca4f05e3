import * as v from 'valibot'
import { quote } from '../text.ts'
import { mustBe, object, VARIABLES, validate } from '../validation.ts'

/** What a client asked to run. Deprecated names are already replaced by current names. */
export interface StartParameters {
  readonly branch?: string | undefined
  readonly environment?: string | undefined
  readonly frameworkProjectName?: string | undefined
  readonly envOverrides: Readonly<Record<string, string>>
  readonly autofix: boolean
  /** The names of the fields that have no effect. The log shows them. */
  readonly ignored: readonly string[]
}

export type Parsed<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly error: string }

/** The only limit in the interface. */
const BRANCH_LIMIT_CHARS = 255

/** An empty text is refused in every field, as the interface refuses it in `branch`. */
const TEXT = v.pipe(v.string(mustBe('a string')), v.nonEmpty('is empty. Leave the field out to get the default.'))

/** Names separated by commas. An empty list would select every project. */
const NAMES = v.pipe(
  TEXT,
  v.check((text) => /[^\s,]/.test(text), 'names no project. Leave the field out to run all.'),
)

const BRANCH = v.pipe(
  TEXT,
  v.maxCodePoints(
    BRANCH_LIMIT_CHARS,
    ({ received }) => `must be 1 to ${BRANCH_LIMIT_CHARS} characters long, got ${received}.`,
  ),
)

const START_FIELDS = {
  frameworkProjectName: v.optional(NAMES),
  runGroupName: v.optional(NAMES),
  envOverrides: v.optional(VARIABLES, {}),
  environment: v.optional(TEXT),
  environmentName: v.optional(TEXT),
  autofix: v.optional(v.boolean(mustBe('true or false')), false),
  branch: v.optional(BRANCH),
}

const CANCEL_HINT = 'is missing. Send {"where": {"runId": "…"}}.'

const CANCEL_FIELDS = {
  where: object(
    { runId: v.string(mustBe('a string')) },
    // An unknown member may narrow the selection. If the service ignored it, it could cancel runs that the client did not mean.
    { missing: CANCEL_HINT, unknown: 'is not supported: "where" can have "runId" only.' },
  ),
}

const SUITE_FIELDS = {
  environment: v.optional(TEXT),
  variableOverrides: v.optional(VARIABLES, {}),
  metadata: v.optional(object({ git: v.optional(object({ branch: v.optional(BRANCH) })) }), {}),
}

/** Reads the body of "start a test run". Every field is optional. A field of the wrong type is refused. */
export function parseStart(body: string): Parsed<StartParameters> {
  return parse(body, START_FIELDS, (fields, raw) => ({
    branch: fields.branch,
    environment: fields.environment ?? fields.environmentName,
    frameworkProjectName: fields.frameworkProjectName ?? fields.runGroupName,
    envOverrides: fields.envOverrides,
    autofix: fields.autofix,
    ignored: [
      ...(fields.frameworkProjectName !== undefined && fields.runGroupName !== undefined ? ['runGroupName'] : []),
      ...(fields.environment !== undefined && fields.environmentName !== undefined ? ['environmentName'] : []),
      ...unknownFields(raw, START_FIELDS),
    ],
  }))
}

/** Reads the body of "cancel a test run" and returns the run's id. */
export function parseCancel(body: string): Parsed<string> {
  return parse(body, CANCEL_FIELDS, ({ where }) => where.runId, CANCEL_HINT)
}

/** Reads the body of "start a test suite". The body may be missing. */
export function parseSuiteStart(body: string): Parsed<StartParameters> {
  return parse(body === '' ? '{}' : body, SUITE_FIELDS, (fields, raw) => ({
    branch: fields.metadata.git?.branch,
    environment: fields.environment,
    envOverrides: fields.variableOverrides,
    autofix: false,
    ignored: unknownFields(raw, SUITE_FIELDS),
  }))
}

function parse<const Entries extends v.ObjectEntries, T>(
  body: string,
  entries: Entries,
  read: (fields: v.InferOutput<v.ObjectSchema<Entries, undefined>>, raw: object) => T,
  missing = 'is missing.',
): Parsed<T> {
  if (body === '') return { kind: 'invalid', error: 'The body is empty. Send a JSON object.' }
  let raw: unknown
  try {
    raw = JSON.parse(body)
  } catch {
    return { kind: 'invalid', error: 'The body is not JSON.' }
  }
  const schema = object(entries, { expectation: 'a JSON object', missing })
  const result = validate(schema, raw, (path) => (path.length === 0 ? 'The body' : quote(path.join('.'))))
  if (result.kind === 'invalid') return { kind: 'invalid', error: result.problems[0] }
  return { kind: 'valid', value: read(result.value, raw as object) }
}

function unknownFields(raw: object, known: object): string[] {
  return Object.keys(raw).filter((name) => !Object.hasOwn(known, name))
}
