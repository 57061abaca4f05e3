import { ServiceError } from '../outcome/failure.ts'
import { classifyTestCase, RUN_STATUSES, type Run, type RunStatus, type TestCase } from '../outcome/run.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import type { JsonResponse } from './response.ts'

// The JSON of the service's responses into the action's types. What the verdict rests on must be there, in its type;
// a deviation is an invalid response that names the field. Everything else costs its own cell in the report, no more.

/** No title or status of use is longer. Text is truncated before anything is made of it. */
const TEXT_LIMIT_CHARS = 10_000

export function decodeStarted(json: unknown): string {
  return runId(object(json, 'the response').runId, 'runId')
}

export function decodeRun({ json, text: responseText }: JsonResponse): Run {
  const response = object(json, 'the response')
  const status = text(response.status, 'status')
  return {
    status: knownStatus(status),
    rawStatus: untrusted(truncate(status)),
    startedAt: date(response.startedAt),
    finishedAt: date(response.finishedAt),
    hasFinishedAt: !isMissing(response.finishedAt) && response.finishedAt !== '',
    branchName: branchNameOf(response.branchName),
    testCases: testCasesOf(response.results, status === 'PASSED'),
    responseText: untrusted(responseText),
  }
}

function branchNameOf(value: unknown): Untrusted | undefined {
  return typeof value === 'string' && value !== '' ? untrusted(truncate(value)) : undefined
}

/** The ids of the runs that a cancel reached. */
export function decodeCancelled(json: unknown): string[] {
  return array(object(json, 'the response').cancelled, 'cancelled').map((entry, index) =>
    runId(object(entry, `cancelled[${index}]`).runId, `cancelled[${index}].runId`),
  )
}

export function decodeSuiteStarted(json: unknown): string {
  return runId(object(json, 'the response').testSuiteRunId, 'testSuiteRunId')
}

export function decodeSuiteStatus(json: unknown): string {
  return truncate(text(object(json, 'the response').status, 'status'))
}

export interface SuiteResult {
  readonly statuses: readonly string[]
  readonly testCases: readonly TestCase[]
}

/** The results of a test suite's run. The names are known from use, not from the interface: each part may be missing. */
export function decodeSuiteResult(json: unknown): SuiteResult {
  const entries = array(object(json, 'the response').results, 'results').map((entry) => (isObject(entry) ? entry : {}))
  return {
    statuses: entries.map(({ status }) => (typeof status === 'string' ? status : '')),
    testCases: entries.map(({ testName, testId, status }) => testCase(testName ?? testId, status)),
  }
}

function knownStatus(status: string): RunStatus | 'UNKNOWN' {
  return RUN_STATUSES.find((known) => known === status) ?? 'UNKNOWN'
}

/** Of a PASSED run the verdict rests on the results. Those of any other that are not usable count as none. */
function testCasesOf(results: unknown, isPassed: boolean): readonly TestCase[] | undefined {
  if (isMissing(results)) return undefined
  const entries = isObject(results) ? results.testCases : undefined
  if (!Array.isArray(entries)) {
    if (isPassed && !isObject(results)) return refuse('results to be an object', results)
    if (isPassed && !isMissing(entries)) return refuse('results.testCases to be an array', entries)
    return undefined
  }
  return entries.map((entry) => (isObject(entry) ? testCase(entry.title, entry.status, entry.durationMs) : testCase()))
}

function testCase(title?: unknown, status?: unknown, durationMs?: unknown): TestCase {
  const rawStatus = typeof status === 'string' ? truncate(status) : ''
  return {
    title: titleOf(title),
    rawStatus: untrusted(rawStatus),
    ...classifyTestCase(rawStatus),
    durationMs: durationOf(durationMs),
  }
}

/** 1e999 is JSON, and Infinity when parsed. What exceeds whole milliseconds is no length of time either. */
function durationOf(value: unknown): number | undefined {
  return typeof value === 'number' && value <= Number.MAX_SAFE_INTEGER ? Math.max(0, value) : undefined
}

function titleOf(title: unknown): Untrusted {
  return untrusted(typeof title === 'string' && title !== '' ? truncate(title) : '(untitled)')
}

function truncate(value: string): string {
  return value.length <= TEXT_LIMIT_CHARS ? value : `${value.slice(0, TEXT_LIMIT_CHARS - 1)}…`
}

function date(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined
  const parsed = new Date(value)
  return Number.isNaN(parsed.getTime()) ? undefined : parsed
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function object(value: unknown, name: string): Record<string, unknown> {
  return isObject(value) ? value : refuse(`${name} to be an object`, value)
}

function array(value: unknown, name: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(`${name} to be an array`, value)
}

function text(value: unknown, name: string): string {
  return typeof value === 'string' ? value : refuse(`${name} to be a string`, value)
}

/** Whole numbers are ids in many databases, and their text is what goes into the path. */
function runId(value: unknown, name: string): string {
  return Number.isSafeInteger(value) ? String(value) : text(value, name)
}

function refuse(expected: string, value: unknown): never {
  throw new ServiceError({ kind: 'invalid-response', expected, got: untrusted(describe(value)) })
}

/** Arrays and objects are only named: writing out what may be 16 MiB gains nothing. */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? JSON.stringify(truncate(value)) : String(value)
}
