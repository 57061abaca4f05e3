import { quote } from './routes.ts'

/** What a client asked to run, with the deprecated names already read as the ones that replace them. */
export interface StartParameters {
  readonly branch?: string
  readonly environment?: string
  readonly frameworkProjectName?: string
  readonly envOverrides: Readonly<Record<string, string>>
  readonly autofix: boolean
  /** Fields that the interface does not name: let through, but worth a line in the log. */
  readonly ignoredFields: readonly string[]
  /** The decoded body. */
  readonly raw: unknown
}

export type Parsed<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'invalid'; readonly error: string }

type Fields = Readonly<Record<string, unknown>>

/** The interface's one limit (section 8). */
const BRANCH_LIMIT_CHARS = 255

const START_FIELDS = [
  'frameworkProjectName',
  'runGroupName',
  'envOverrides',
  'environment',
  'environmentName',
  'autofix',
  'branch',
]

/** Reads the body of "start a test run": every field is optional, a field of the wrong type is refused. */
export function parseStart(body: string): Parsed<StartParameters> {
  return parse(body, (fields) => {
    const environment = text(fields, 'environment') ?? text(fields, 'environmentName')
    const frameworkProjectName = text(fields, 'frameworkProjectName') ?? text(fields, 'runGroupName')
    // Read for its type alone where the new name already won.
    text(fields, 'environmentName')
    text(fields, 'runGroupName')
    const branch = branchName(fields, 'branch')
    return {
      ...(branch === undefined ? {} : { branch }),
      ...(environment === undefined ? {} : { environment }),
      ...(frameworkProjectName === undefined ? {} : { frameworkProjectName }),
      envOverrides: variables(fields, 'envOverrides'),
      autofix: flag(fields, 'autofix') ?? false,
      ignoredFields: Object.keys(fields).filter((name) => !START_FIELDS.includes(name)),
      raw: fields,
    }
  })
}

/** Reads the body of "cancel a test run" and gives the run's id. */
export function parseCancel(body: string): Parsed<string> {
  return parse(body, (fields) => {
    const where = object(fields, 'where')
    if (where === undefined) throw new InvalidBodyError('"where" is missing. Send {"where": {"runId": "…"}}.')
    // Narrowing members that are not understood must not be ignored: that would cancel what was not meant.
    const others = Object.keys(where).filter((name) => name !== 'runId')
    if (others.length > 0) throw new InvalidBodyError(`"where" can hold "runId" only, got also ${quote(others[0])}.`)
    const runId = text(where, 'runId', 'where.runId')
    if (runId === undefined) throw new InvalidBodyError('"where.runId" is missing. Send {"where": {"runId": "…"}}.')
    return runId
  })
}

/** Reads the body of "start a test suite"; the body may be missing. */
export function parseSuiteStart(body: string): Parsed<StartParameters> {
  return parse(body === '' ? '{}' : body, (fields) => {
    const environment = text(fields, 'environment')
    const git = object(object(fields, 'metadata') ?? {}, 'git', 'metadata.git') ?? {}
    const branch = branchName(git, 'branch', 'metadata.git.branch')
    return {
      ...(branch === undefined ? {} : { branch }),
      ...(environment === undefined ? {} : { environment }),
      envOverrides: variables(fields, 'variableOverrides'),
      autofix: false,
      ignoredFields: Object.keys(fields).filter(
        (name) => !['environment', 'variableOverrides', 'metadata'].includes(name),
      ),
      raw: body === '' ? undefined : fields,
    }
  })
}

class InvalidBodyError extends Error {}

function parse<T>(body: string, read: (fields: Fields) => T): Parsed<T> {
  try {
    return { kind: 'ok', value: read(jsonObject(body)) }
  } catch (error) {
    if (error instanceof InvalidBodyError) return { kind: 'invalid', error: error.message }
    throw error
  }
}

function jsonObject(body: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new InvalidBodyError(body === '' ? 'The body is empty. Send a JSON object.' : 'The body is not JSON.')
  }
  if (!isObject(value)) throw new InvalidBodyError(`The body must be a JSON object, got ${kindOf(value)}.`)
  return value
}

function text(fields: Fields, name: string, path = name): string | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw new InvalidBodyError(`"${path}" must be a string, got ${kindOf(value)}.`)
  return value
}

function branchName(fields: Fields, name: string, path = name): string | undefined {
  const branch = text(fields, name, path)
  if (branch !== undefined && (branch.length < 1 || branch.length > BRANCH_LIMIT_CHARS)) {
    throw new InvalidBodyError(`"${path}" must be 1 to ${BRANCH_LIMIT_CHARS} characters long, got ${branch.length}.`)
  }
  return branch
}

function flag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name]
  if (value !== undefined && typeof value !== 'boolean') {
    throw new InvalidBodyError(`"${name}" must be true or false, got ${kindOf(value)}.`)
  }
  return value
}

function object(fields: Fields, name: string, path = name): Fields | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  if (!isObject(value)) throw new InvalidBodyError(`"${path}" must be an object, got ${kindOf(value)}.`)
  return value
}

/** Numbers and booleans become the text that a process would see; anything nested is refused. */
function variables(fields: Fields, name: string): Record<string, string> {
  // No prototype: `__proto__` is a variable name like any other.
  const result: Record<string, string> = Object.create(null)
  for (const [key, value] of Object.entries(object(fields, name) ?? {})) {
    if (key === '' || key.includes('=') || key.includes('\0')) {
      throw new InvalidBodyError(`"${name}" holds ${quote(key)}, which cannot be the name of an environment variable.`)
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw new InvalidBodyError(`"${name}.${key}" must be a string, a number or a boolean, got ${kindOf(value)}.`)
    }
    if (typeof value === 'string' && value.includes('\0')) {
      throw new InvalidBodyError(`"${name}.${key}" holds a NUL character, which no environment variable can.`)
    }
    result[key] = String(value)
  }
  return result
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
