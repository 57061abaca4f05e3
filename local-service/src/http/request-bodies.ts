import * as v from 'valibot'
import { isObject, parseJson } from '../../../src/text/json.ts'
import { refuse } from '../checkout/checkout.ts'
import type { StartParameters } from '../runs/start.ts'
import { problemsOf, VARIABLES } from '../settings/validation.ts'

// If a body is invalid, these functions throw a Refusal.

/** The only limit in docs/openapi.yaml: `maxLength` of `StartRunRequest.branch`. */
const BRANCH_LIMIT_CHARS = 255

/** An empty text is refused in every field, as the interface refuses it in `branch`. */
const TEXT = v.pipe(v.string(), v.nonEmpty('It is empty. Leave the field out to get the default'))

/** Names separated by commas. An empty list would select every project. */
const NAMES = v.pipe(TEXT, v.regex(/[^\s,]/, 'It names no project. Leave the field out to run all'))

const BRANCH = v.pipe(TEXT, v.maxCodePoints(BRANCH_LIMIT_CHARS, `It is longer than ${BRANCH_LIMIT_CHARS} characters`))

const START_FIELDS = {
  frameworkProjectName: v.optional(NAMES),
  runGroupName: v.optional(NAMES),
  envOverrides: v.optional(VARIABLES, {}),
  environment: v.optional(TEXT),
  environmentName: v.optional(TEXT),
  autofix: v.optional(v.boolean(), false),
  branch: v.optional(BRANCH),
}

// An unknown member of `where` may narrow the selection. If the service ignored it, it could cancel runs that the client did
// not mean.
const CANCEL = v.object({ where: v.strictObject({ runId: v.string() }) })

const SUITE_FIELDS = {
  environment: v.optional(TEXT),
  variableOverrides: v.optional(VARIABLES, {}),
  metadata: v.optional(v.object({ git: v.optional(v.object({ branch: v.optional(BRANCH) })) }), {}),
}

/** Reads the body of "start a test run". Every field is optional. A field of the wrong type is refused. */
export function parseStart(body: string): StartParameters {
  return parse(body, v.object(START_FIELDS), (fields, raw) => ({
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
export function parseCancel(body: string): string {
  return parse(body, CANCEL, ({ where }) => where.runId)
}

/** Reads the body of "start a test suite". The body may be missing. */
export function parseSuiteStart(body: string): StartParameters {
  return parse(body === '' ? '{}' : body, v.object(SUITE_FIELDS), (fields, raw) => ({
    branch: fields.metadata.git?.branch,
    environment: fields.environment,
    envOverrides: fields.variableOverrides,
    autofix: false,
    ignored: unknownFields(raw, SUITE_FIELDS),
  }))
}

function parse<const Schema extends v.GenericSchema, T>(
  body: string,
  schema: Schema,
  read: (fields: v.InferOutput<Schema>, raw: object) => T,
): T {
  const raw = parseJson(body)
  if (!isObject(raw)) refuse('invalid', 'The body is not a JSON object.')
  const result = v.safeParse(schema, raw)
  if (!result.success) refuse('invalid', problemsOf(result.issues)[0] ?? '')
  return read(result.output, raw)
}

function unknownFields(raw: object, known: object): string[] {
  return Object.keys(raw).filter((name) => !Object.hasOwn(known, name))
}
