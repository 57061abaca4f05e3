import { ServiceError } from '../outcome/failure.ts'
import { judgeTestCase, RUN_STATUSES, type Run, type RunStatus, type TestCase } from '../outcome/run.ts'
import { untrusted } from '../outcome/untrusted.ts'

// The JSON of the service's answers into the domain's words. What the interface promises must be there, in its type;
// what it does not know is kept. A deviation is a broken answer that names the field.

export function decodeStarted(json: unknown): string {
  return text(object(json, 'the answer').runId, 'runId')
}

export function decodeRun(json: unknown): Run {
  const answer = object(json, 'the answer')
  const status = text(answer.status, 'status')
  const startedAt = optionalDate(answer.startedAt, 'startedAt')
  const finishedAt = optionalDate(answer.finishedAt, 'finishedAt')
  const branchName = optionalText(answer.branchName, 'branchName')
  return {
    status: knownStatus(status),
    rawStatus: untrusted(status),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    hasFinishedAt: !isMissing(answer.finishedAt) && answer.finishedAt !== '',
    ...(branchName === undefined ? {} : { branchName: untrusted(branchName) }),
    ...(isMissing(answer.results) ? {} : { testCases: decodeResults(answer.results) }),
    raw: json,
  }
}

/** The ids of the runs that a cancel reached. */
export function decodeCancelled(json: unknown): string[] {
  return array(object(json, 'the answer').cancelled, 'cancelled').map((entry, index) =>
    text(object(entry, `cancelled[${index}]`).runId, `cancelled[${index}].runId`),
  )
}

export function decodeSuiteStarted(json: unknown): string {
  return text(object(json, 'the answer').testSuiteRunId, 'testSuiteRunId')
}

export function decodeSuiteStatus(json: unknown): string {
  return text(object(json, 'the answer').status, 'status')
}

export interface SuiteResult {
  readonly statuses: readonly string[]
  readonly testCases: readonly TestCase[]
}

export function decodeSuiteResult(json: unknown): SuiteResult {
  const statuses: string[] = []
  const testCases = array(object(json, 'the answer').results, 'results').map((entry, index) => {
    const result = object(entry, `results[${index}]`)
    const status = text(result.status, `results[${index}].status`)
    statuses.push(status)
    // The names are known from use, not from the interface: a test without a name still has its id.
    const title = optionalText(result.testName, `results[${index}].testName`) ?? result.testId
    return {
      title: untrusted(text(title, `results[${index}].testName`)),
      status: untrusted(status),
      ...judgeTestCase(status),
    }
  })
  return { statuses, testCases }
}

function knownStatus(status: string): RunStatus | 'UNKNOWN' {
  return RUN_STATUSES.find((known) => known === status) ?? 'UNKNOWN'
}

function decodeResults(json: unknown): readonly TestCase[] {
  const testCases = array(object(json, 'results').testCases, 'results.testCases')
  return testCases.map((entry, index) => {
    const name = `results.testCases[${index}]`
    const testCase = object(entry, name)
    const status = text(testCase.status, name, '.status')
    return {
      title: untrusted(text(testCase.title, name, '.title')),
      status: untrusted(status),
      ...judgeTestCase(status),
      durationMs: duration(testCase.durationMs, name, '.durationMs'),
    }
  })
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function object(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  return refuse(`${name} to be an object`, value)
}

function array(value: unknown, name: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(`${name} to be an array`, value)
}

function text(value: unknown, name: string, member = ''): string {
  return typeof value === 'string' ? value : refuse(`${name}${member} to be a string`, value)
}

function optionalText(value: unknown, name: string): string | undefined {
  return isMissing(value) ? undefined : text(value, name)
}

function duration(value: unknown, name: string, member: string): number {
  // 1e999 is JSON, and Infinity when parsed.
  return Number.isFinite(value) ? Math.max(0, value as number) : refuse(`${name}${member} to be a number`, value)
}

/** A date that cannot be read costs the report its run time, never the verdict. */
function optionalDate(value: unknown, name: string): Date | undefined {
  const stamp = optionalText(value, name)
  if (stamp === undefined) return undefined
  const date = new Date(stamp)
  return Number.isNaN(date.getTime()) ? undefined : date
}

function refuse(expected: string, value: unknown): never {
  throw new ServiceError({ kind: 'invalid-response', expected, got: untrusted(inWords(value)) })
}

/** Arrays and objects are only named: writing out what may be 64 MiB, or nested too deep for that, gains nothing. */
function inWords(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  // Whole: a cut could leave a part of the key that nothing recognises any more.
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
