import type { Failure } from '../outcome/failure.ts'
import {
  isFinished,
  needsReason,
  outcomeOf,
  RUN_STATUSES,
  type Run,
  type SourceLocation,
  type TestCase,
} from '../outcome/run.ts'
import { fieldsOf, isObject } from '../text/json.ts'
import { firstLineOf, sanitize, truncate } from '../text/safe-text.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'

// Decodes the JSON of the service's responses. If a field that the verdict rests on is missing or has the wrong type,
// the response is invalid, and the message names the field. If any other field is missing or wrong, only its own cell in
// the report is empty.

type InvalidResponseFailure = Extract<Failure, { kind: 'invalid-response' }>

/** Thrown by what reads a response. `createSendJson` catches it. */
export class InvalidResponse extends Error {
  override readonly name = 'InvalidResponse'
  readonly failure: InvalidResponseFailure

  constructor(about: Omit<InvalidResponseFailure, 'kind'>) {
    super(about.expected)
    this.failure = { kind: 'invalid-response', ...about }
  }
}

/** Longer than any real title or status. Text is truncated before anything is made of it. */
const TEXT_LIMIT_CHARS = 10_000

export function decodeStarted(json: unknown, name: 'runId' | 'testSuiteRunId'): string {
  return runId(object(json, 'the response')[name], name)
}

export function decodeRun(json: unknown, responseText: string): Run {
  const response = object(json, 'the response')
  const status = text(response.status, 'status')
  const run: Run = {
    status: RUN_STATUSES.find((known) => known === status) ?? 'UNKNOWN',
    rawStatus: untrusted(shortened(status)),
    startedAt: date(response.startedAt),
    finishedAt: date(response.finishedAt),
    hasFinishedAt: !isMissing(response.finishedAt) && response.finishedAt !== '',
    branchName: branchOf(response.branchName, status === 'PASSED'),
    testCases: testCasesOf(response.results, status === 'PASSED'),
    responseText: untrusted(responseText),
  }
  return isFinished(run) && status !== 'PASSED' ? { ...run, message: decodeMessage(response.message) } : run
}

export function decodeCancelled(json: unknown): string[] {
  return array(object(json, 'the response').cancelled, 'cancelled').map((entry, index) =>
    runId(object(entry, `cancelled[${index}]`).runId, `cancelled[${index}].runId`),
  )
}

export function decodeSuiteStatus(json: unknown): string {
  return shortened(text(object(json, 'the response').status, 'status'))
}

/** The results of a test suite's run. The interface does not document them, so each part may be missing. */
export function decodeSuiteResult(json: unknown) {
  const entries = array(object(json, 'the response').results, 'results').map(fieldsOf)
  return {
    statuses: entries.map(({ status }) => (isText(status) ? status : '')),
    testCases: entries.map(({ testName, testId, ...entry }) => testCase({ ...entry, title: testName ?? testId })),
  }
}

/** The verdict of a PASSED run rests on its branch, so a branch of another type is invalid there. */
function branchOf(branchName: unknown, isPassed: boolean): Untrusted | undefined {
  if (isPassed && !isMissing(branchName)) text(branchName, 'branchName')
  return isText(branchName) ? untrusted(shortened(branchName)) : undefined
}

/** In a PASSED run, results may be missing, but not malformed. In other runs, malformed results count as missing. */
function testCasesOf(results: unknown, isPassed: boolean): readonly TestCase[] | undefined {
  if (isPassed && !isMissing(results)) object(results, 'results')
  const { testCases } = fieldsOf(results)
  if (isPassed && !isMissing(testCases)) array(testCases, 'results.testCases')
  return Array.isArray(testCases) ? testCases.map(fieldsOf).map(testCase) : undefined
}

function testCase({ title, status, durationMs, message, filePath, line }: ReturnType<typeof fieldsOf>): TestCase {
  const rawStatus = typeof status === 'string' ? shortened(status) : ''
  const outcome = outcomeOf(rawStatus)
  const decoded: TestCase = {
    title: untrusted(isText(title) ? shortened(title) : '(untitled)'),
    rawStatus: untrusted(rawStatus),
    outcome,
    durationMs: durationOf(durationMs),
  }
  return needsReason(outcome)
    ? { ...decoded, message: decodeMessage(message), location: locationOf(filePath, line) }
    : decoded
}

/** Not truncated, because reports have the whole message. Undefined if it has no visible character. */
function decodeMessage(value: unknown): Untrusted | undefined {
  if (!isText(value)) return undefined
  const message = untrusted(value)
  return String(firstLineOf(message)) === '' ? undefined : message
}

const PATH_LIMIT_CHARS = 1_000
/** A control character, a half of a pair, or a character beyond the basic plane. */
const UNUSABLE_IN_PATH = /[\p{Cc}\p{Cs}\u{10000}-\u{10FFFF}]/u

function locationOf(value: unknown, line: unknown): SourceLocation | undefined {
  if (!isText(value) || value.length > PATH_LIMIT_CHARS || UNUSABLE_IN_PATH.test(value)) return undefined
  // Checked as reports show it. Invisible characters before it would hide what it begins with.
  const filePath = sanitize(untrusted(value))
  const isAbsolute = /^([/\\]|[A-Za-z][\w+.-]*:)/.test(String(filePath))
  const hasParent = String(filePath)
    .split(/[/\\]/)
    .some((part) => part.trim() === '..')
  if (String(filePath) === '' || isAbsolute || hasParent) return undefined
  return { filePath, line: Number.isSafeInteger(line) && Number(line) >= 1 ? Number(line) : undefined }
}

/** Undefined if the number is too large to be exact. JSON allows 1e999, which becomes Infinity. */
function durationOf(value: unknown): number | undefined {
  return typeof value === 'number' && value <= Number.MAX_SAFE_INTEGER ? Math.max(0, value) : undefined
}

function shortened(value: string): string {
  return truncate(value, TEXT_LIMIT_CHARS)
}

function date(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined
  const parsed = new Date(value)
  return Number.isNaN(parsed.getTime()) ? undefined : parsed
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
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

function runId(value: unknown, name: string): string {
  return Number.isSafeInteger(value) ? String(value) : text(value, name)
}

function refuse(expected: string, value: unknown): never {
  throw new InvalidResponse({ expected, ...describe(value) })
}

/** Only names an array or an object, because it may have 16 MiB. */
function describe(value: unknown): { readonly found: string } | { readonly got: Untrusted } {
  if (value === undefined) return { found: 'nothing' }
  if (Array.isArray(value)) return { found: 'an array' }
  if (typeof value === 'object' && value !== null) return { found: 'an object' }
  if (typeof value === 'string') return { got: untrusted(JSON.stringify(shortened(value))) }
  return { found: typeof value === 'number' ? `the number ${value}` : String(value) }
}
