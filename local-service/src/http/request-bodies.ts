import * as v from 'valibot'
import { isObject, parseJson } from '../../../src/text/json.ts'
import { refuse } from '../runs/refusal.ts'
import { problemsOf, VARIABLES } from '../settings/project.ts'

/** docs/openapi.yaml has this limit as `maxLength` of `StartRunRequest.branch`. */
const BRANCH_LIMIT_CHARS = 255

/** An empty text is refused in every field, as the interface refuses it in `branch`. */
const TEXT = v.pipe(v.string(), v.nonEmpty('It is empty. Leave the field out to get the default'))

/** The interface says "name(s)". A list is separated by commas, because a name may contain spaces. An empty list would select all. */
const NAMES = v.pipe(
  TEXT,
  v.transform((list) => list.split(',').map((name) => name.trim())),
  v.filterItems((name) => name !== ''),
  v.minLength(1, 'It names no project. Leave the field out to run all'),
)

const BRANCH = v.pipe(TEXT, v.maxCodePoints(BRANCH_LIMIT_CHARS, `It is longer than ${BRANCH_LIMIT_CHARS} characters`))

const START = v.object({
  frameworkProjectName: v.optional(NAMES),
  runGroupName: v.optional(NAMES),
  envOverrides: v.optional(VARIABLES, {}),
  environment: v.optional(TEXT),
  environmentName: v.optional(TEXT),
  autofix: v.optional(v.boolean(), false),
  branch: v.optional(BRANCH),
})

// An unknown member of `where` may narrow the selection. If the service ignored it, it could cancel runs that the client did
// not mean.
const CANCEL = v.object({ where: v.strictObject({ runId: v.string() }) })

const SUITE_START = v.object({
  environment: v.optional(TEXT),
  variableOverrides: v.optional(VARIABLES, {}),
  metadata: v.optional(v.object({ git: v.optional(v.object({ branch: v.optional(BRANCH) })) }), {}),
})

/** The current name of a field comes before its deprecated name. */
export function parseStart(body: string) {
  const { branch, autofix, envOverrides: variables, ...start } = parse(body, START)
  const environment = start.environment ?? start.environmentName
  const frameworkProjects = start.frameworkProjectName ?? start.runGroupName ?? []
  return { branch, autofix, variables, environment, frameworkProjects }
}

export function parseCancel(body: string): string {
  return parse(body, CANCEL).where.runId
}

/** The body may be missing. */
export function parseSuiteStart(body: string) {
  const { environment, variableOverrides: variables, metadata } = parse(body || '{}', SUITE_START)
  return { branch: metadata.git?.branch, environment, variables, autofix: false }
}

function parse<const Schema extends v.GenericSchema>(body: string, schema: Schema): v.InferOutput<Schema> {
  const raw = parseJson(body)
  if (!isObject(raw)) refuse(400, 'The body is not a JSON object.')
  const result = v.safeParse(schema, raw)
  if (!result.success) refuse(400, problemsOf(result.issues)[0] ?? '')
  return result.output
}
