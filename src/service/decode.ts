import type { InvalidResponseFailure } from '../model/failure.ts'
import {
  isFailing,
  isFinished,
  isUsableRunId,
  kindOf,
  type Progress,
  RUN_ID_RULE,
  RUN_STATUSES,
  type Run,
  showsReason,
  type Target,
  type TestCase,
} from '../model/run.ts'
import { fieldsOf, isObject } from '../text/json.ts'
import { rawText, type Untrusted, untrusted } from '../text/untrusted.ts'
import { firstLineOf, isVisible, TEXT_LIMIT_CHARS, truncate, visibleLines } from '../text/visible-text.ts'
import type { Redact } from './key-redaction.ts'

// A wrong value makes the response invalid only if the step cannot go on without the right one, for example the id of a run, its
// status, and what the verdict of a PASSED run rests on. Any other wrong value empties only its own cell in the report.

/** Thrown while a response is decoded. `createSendJson` returns its failure. */
export class InvalidResponse extends Error {
  readonly failure: InvalidResponseFailure

  constructor(about: Omit<InvalidResponseFailure, 'failure' | 'kind'>) {
    super(about.expected)
    this.failure = { failure: true, kind: 'invalid-response', ...about }
  }
}

export function decodeStarted(json: unknown, name: 'runId' | 'testSuiteRunId'): string {
  const runId = requiredText(requiredObject(json, 'the response')[name], name)
  return isUsableRunId(runId) ? runId : throwInvalid(`${name} to have ${RUN_ID_RULE}`, runId)
}

export function decodeRun(json: unknown, responseText: string, redact: Redact): Run {
  const response = requiredObject(json, 'the response')
  const { startedAt, finishedAt, branchName, message } = response
  const status = requiredText(response.status, 'status')
  if (status === 'PASSED') checkVerdictFields(response)
  const { testCases } = fieldsOf(response.results)
  const run: Run = {
    status: RUN_STATUSES.find((known) => known === status) ?? 'UNKNOWN',
    rawStatus: shortened(status),
    startedAt: date(startedAt),
    finishedAt: date(finishedAt),
    branchName: isText(branchName) ? shortened(branchName) : undefined,
    testCases: Array.isArray(testCases) ? testCases.map((entry) => testCase(entry, redact)) : undefined,
    outputBytes: wholeNumber(response.outputBytes),
    responseText: untrusted(responseText),
  }
  // A service may send an empty list before there are results.
  if (!isFinished(run)) {
    return {
      ...run,
      testCases: run.testCases?.length ? run.testCases : undefined,
      progress: decodeProgress(response.progress),
    }
  }
  if (status === 'PASSED') return run
  return { ...run, message: decodeMessage(message, redact), ...decodePlace(response) }
}

function decodeProgress(value: unknown): Progress {
  const { total, passed, failed, skipped } = fieldsOf(value)
  return {
    total: wholeNumber(total),
    passed: wholeNumber(passed),
    failed: wholeNumber(failed),
    skipped: wholeNumber(skipped),
  }
}

/** A part of the output of a run's tests. */
export interface OutputPart {
  readonly text: Untrusted
  /** The number of the byte after the text. */
  readonly next: number
}

export function decodeOutput(json: unknown, from: number): OutputPart {
  const { text: given, next: givenNext } = requiredObject(json, 'the response')
  const text = requiredText(given, 'text')
  const next = wholeNumber(givenNext) ?? -1
  const isForward = text === '' ? next >= from : next > from
  return isForward ? { text: untrusted(text), next } : throwInvalid(`next to be a byte after ${from}`, givenNext)
}

/** The verdict of a PASSED run rests on these fields. A field that is missing or null counts as empty, but no field may have another type. */
function checkVerdictFields({ branchName, results }: Record<string, unknown>): void {
  requiredText(branchName ?? '', 'branchName')
  const { testCases } = requiredObject(results ?? {}, 'results')
  requiredArray(testCases ?? [], 'results.testCases')
}

export function decodeCancelled(json: unknown): string[] {
  return requiredArray(requiredObject(json, 'the response').cancelled, 'cancelled').map((entry, index) =>
    requiredText(requiredObject(entry, `cancelled[${index}]`).runId, `cancelled[${index}].runId`),
  )
}

export function decodeSuiteStatus(json: unknown): string {
  return requiredText(requiredObject(json, 'the response').status, 'status')
}

const UNFINISHED_RESULTS = new Set(['RUNNING', 'QUEUED', 'RETRYING'])
const PASSED_RESULTS = new Set(['PASSED', 'FLAKY', 'SKIPPED'])

/**
 * The results of a test suite's run. The interface does not document the fields of a result, so each field may be missing. The response
 * has no status of the run, so the status follows from the results.
 */
export function decodeSuiteResult(json: unknown, redact: Redact) {
  const testCases = requiredArray(requiredObject(json, 'the response').results, 'results').map((entry) => {
    const { testName, testId } = fieldsOf(entry)
    return testCase({ ...fieldsOf(entry), title: testName ?? testId }, redact)
  })
  return { testCases, status: statusOfResults(testCases.map(({ rawStatus }) => rawText(rawStatus))) }
}

function statusOfResults(statuses: readonly string[]): Run['status'] {
  if (statuses.some((status) => UNFINISHED_RESULTS.has(status))) return 'RUNNING'
  const others = statuses.filter((status) => !PASSED_RESULTS.has(status))
  if (others.length === 0) return 'PASSED'
  const hasFailed = others.some((status) => isFailing({ kind: kindOf(status) }))
  return !hasFailed && others.includes('CANCELLED') ? 'CANCELLED' : 'FAILED'
}

/** The results in a file `results.json`, which is the response to an earlier poll. Throws if it is not JSON, or no such response. */
export function decodeResults(
  text: string,
  kind: Target['kind'],
  redact: Redact,
): Pick<Run, 'status' | 'testCases' | 'finishedAt'> {
  const json: unknown = JSON.parse(text)
  return kind === 'test-suite' ? decodeSuiteResult(json, redact) : decodeRun(json, text, redact)
}

function testCase(entry: unknown, redact: Redact): TestCase {
  const fields = fieldsOf(entry)
  const { title, status, durationMs, message } = fields
  const rawStatus = typeof status === 'string' ? status : ''
  const kind = kindOf(rawStatus)
  const { filePath, line } = decodePlace(fields)
  return {
    title: shortened(isText(title) ? title : ''),
    rawStatus: shortened(rawStatus),
    kind,
    durationMs: durationOf(durationMs),
    message: kind === 'passed' ? undefined : decodeMessage(message, redact),
    filePath,
    line: showsReason({ kind }) ? line : undefined,
  }
}

/**
 * Not truncated, because reports have the whole message. Undefined if it has no visible character. A colour may stand in
 * the middle of the key. So the key is looked for once more in the text that reports show.
 */
function decodeMessage(value: unknown, redact: Redact): Untrusted | undefined {
  if (!isText(value)) return undefined
  const message = untrusted(redact(visibleLines(value).join('\n')))
  return rawText(firstLineOf(message)) === '' ? undefined : message
}

/** The path is absolute (it begins with a slash or with a drive such as `C:`), or one of its parts is `..`. */
const LEAVES_REPOSITORY = /^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/

/** Without a usable path, a line has no meaning. */
function decodePlace({ filePath, line }: Partial<Record<string, unknown>>): Pick<TestCase, 'filePath' | 'line'> {
  const path = usablePath(filePath)
  // There is no line 0.
  return path === undefined ? {} : { filePath: path, line: line === 0 ? undefined : wholeNumber(line) }
}

function usablePath(value: unknown): Untrusted | undefined {
  return isText(value) && !LEAVES_REPOSITORY.test(value) && isVisible(value) ? shortened(value) : undefined
}

/** Undefined unless the number is usable. JSON allows 1e999, which becomes Infinity. */
function durationOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined
}

function wholeNumber(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}

/** A text of the service, truncated at once, because it may have 16 MiB. */
export function shortened(text: string): Untrusted {
  return untrusted(truncate(text, TEXT_LIMIT_CHARS))
}

/**
 * Undefined unless it is an ISO 8601 time stamp. `Date` alone would take `7` for a day of 2001. A time before
 * 1970 counts as none, because Go and .NET send the year 1 if they have no time.
 */
function date(value: unknown): Date | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return undefined
  const parsed = new Date(value)
  return parsed.getTime() >= 0 ? parsed : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function requiredObject(value: unknown, name: string): Record<string, unknown> {
  return isObject(value) ? value : throwInvalid(`${name} to be an object`, value)
}

function requiredArray(value: unknown, name: string): readonly unknown[] {
  return Array.isArray(value) ? value : throwInvalid(`${name} to be an array`, value)
}

function requiredText(value: unknown, name: string): string {
  return typeof value === 'string' ? value : throwInvalid(`${name} to be a string`, value)
}

function throwInvalid(expected: string, value: unknown): never {
  throw new InvalidResponse({ expected, got: describe(value) })
}

/** Only names an array or an object, because it may have 16 MiB. */
function describe(value: unknown): InvalidResponseFailure['got'] {
  if (typeof value === 'string') return { sent: shortened(JSON.stringify(value)) }
  if (value === undefined) return { words: 'nothing' }
  if (Array.isArray(value)) return { words: 'an array' }
  return { words: isObject(value) ? 'an object' : String(value) }
}
