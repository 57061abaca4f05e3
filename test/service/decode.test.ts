import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFinished, RUN_STATUSES } from '../../src/model/run.ts'
import * as decode from '../../src/service/decode.ts'
import {
  decodeCancelled,
  decodeOutput,
  decodeStarted,
  decodeSuiteStatus,
  InvalidResponse,
} from '../../src/service/decode.ts'

const asIs = (text: string) => text
const decodeRun = (json: unknown) => decode.decodeRun(json, 'the text', asIs)
const decodeSuiteResult = (json: unknown) => decode.decodeSuiteResult(json, asIs)

const RUN = {
  status: 'FAILED',
  startedAt: '2026-03-04T05:06:07.000Z',
  finishedAt: '2026-03-04T05:07:07.500Z',
  branchName: 'main',
  results: {
    testCases: [
      { title: 'cart > adds', status: 'PASSED', durationMs: 12 },
      { title: 'cart > removes', status: 'FAILED', durationMs: 3_400 },
    ],
  },
}
const PASSED = { ...RUN, status: 'PASSED' }

/** A response in which the field at a path is replaced. With undefined, the field is removed. */
function altered(response: object, path: string, value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(response))
  const names = path.split('.')
  const last = names.pop() ?? ''
  const owner = names.reduce((part, name) => part[name], copy)
  if (value === undefined) delete owner[last]
  else owner[last] = value
  return copy
}

function failureOf(decode: () => unknown): unknown {
  try {
    decode()
  } catch (error) {
    if (error instanceof InvalidResponse) return error.failure
    throw error
  }
  throw new Error('it was decoded')
}

const started = (json: unknown) => decodeStarted(json, 'runId')
const suiteStarted = (json: unknown) => decodeStarted(json, 'testSuiteRunId')

describe('a run', () => {
  it('is decoded with all its fields, and keeps statuses that the interface does not know', () => {
    const quarantined = { title: 't', status: 'QUARANTINED', durationMs: 1.5, retries: 2 }
    const results = { video: 'v', testCases: [...RUN.results.testCases, quarantined] }
    expect(decodeRun({ ...RUN, shard: 3, results })).toEqual({
      status: 'FAILED',
      rawStatus: 'FAILED',
      startedAt: new Date('2026-03-04T05:06:07.000Z'),
      finishedAt: new Date('2026-03-04T05:07:07.500Z'),
      branchName: 'main',
      testCases: [
        { title: 'cart > adds', rawStatus: 'PASSED', kind: 'passed', durationMs: 12 },
        { title: 'cart > removes', rawStatus: 'FAILED', kind: 'failed', durationMs: 3_400 },
        { title: 't', rawStatus: 'QUARANTINED', kind: 'other', durationMs: 1.5 },
      ],
      responseText: 'the text',
    })
  })

  it.each([
    {},
    { startedAt: null, finishedAt: null, branchName: null, results: null },
    { results: { testCases: [] } },
  ])('is decoded if it has only a status, as a queued run may with %j', (rest) => {
    const queued = {
      status: 'QUEUED',
      rawStatus: 'QUEUED',
      progress: {},
      responseText: 'the text',
    }
    expect(decodeRun({ status: 'QUEUED', ...rest })).toEqual(queued)
  })

  it('has a status of the interface, or an unknown status as the service wrote it', () => {
    for (const status of RUN_STATUSES) expect(decodeRun({ status }).status).toBe(status)
    for (const rawStatus of ['PAUSED', 'passed', ' PASSED', '']) {
      expect(decodeRun({ status: rawStatus })).toMatchObject({ status: 'UNKNOWN', rawStatus })
    }
  })

  it.each([
    [undefined, false],
    [null, false],
    ['', false],
    [false, false],
    [0, false],
    [1772600827500, false],
    ['just now', false],
    ['2026-03-04T05:07:07.500Z', true],
  ])('of an unknown status with the finishing time %j is final: %j', (finishedAt, isFinal) => {
    expect(isFinished(decodeRun({ ...RUN, status: 'QUARANTINED', finishedAt }))).toBe(isFinal)
  })
})

// The verdict depends on the results of a PASSED run, and on no other optional field.
describe('the results of a PASSED run', () => {
  it.each([undefined, null])('may be missing: %j', (results) => {
    expect(decodeRun({ ...PASSED, results }).testCases).toBeUndefined()
    expect(decodeRun({ ...PASSED, results: { testCases: results } }).testCases).toBeUndefined()
  })

  it.each([
    ['results', 'none', 'results to be an object', { got: { sent: '"none"' } }],
    ['results', [], 'results to be an object', { got: { words: 'an array' } }],
    ['results.testCases', { 0: {} }, 'results.testCases to be an array', { got: { words: 'an object' } }],
    ['results.testCases', false, 'results.testCases to be an array', { got: { words: 'false' } }],
  ])('are invalid with %s as %j, and count as none in any other run', (path, value, expected, came) => {
    const failure = { failure: true, kind: 'invalid-response', expected, ...came }
    expect(failureOf(() => decodeRun(altered(PASSED, path, value)))).toEqual(failure)
    for (const status of [...RUN_STATUSES.filter((one) => one !== 'PASSED'), 'PAUSED']) {
      const run = decodeRun(altered({ ...RUN, status }, path, value))
      expect([run.rawStatus, run.testCases]).toEqual([status, undefined])
    }
  })
})

describe('a value that costs only its own cell in the report', () => {
  const plain = decodeRun(PASSED)
  const STRANGE = [undefined, null, 0, 17, true, [], {}, ['x'], '']

  it.each([
    ['startedAt', [...STRANGE, 'yesterday', '2026-99-99', '1.5', 'March 4, 2026', '04/03/2026']],
    ['finishedAt', [...STRANGE, 'yesterday', '7', '2026', '0001-01-01T00:00:00Z']],
    ['branchName', [undefined, null, '']],
  ] as const)('a strange %s', (name, values) => {
    for (const value of values) {
      const run = decodeRun({ ...PASSED, [name]: value })
      expect(run).toEqual({ ...plain, [name]: undefined })
    }
  })

  it.each([0, 17, true, [], {}, ['x']])('the branchName %j, unless the run is PASSED', (branchName) => {
    expect(decodeRun({ ...RUN, branchName }).branchName).toBeUndefined()
    expect(failureOf(() => decodeRun({ ...PASSED, branchName }))).toMatchObject({
      expected: 'branchName to be a string',
    })
  })

  it.each([
    ['title', STRANGE, { title: '' }],
    // For example the null of a skipped case, or Infinity, which 1e999 in JSON becomes.
    ['durationMs', [undefined, null, '12', true, [], {}, Number.POSITIVE_INFINITY, 2 ** 53], { durationMs: undefined }],
    ['durationMs', [-5], { durationMs: undefined }],
    ['durationMs', [0], { durationMs: 0 }],
    ['status', STRANGE, { rawStatus: '', kind: 'other' }],
  ])('a strange %s of a case: %j becomes %j', (name, values, cells) => {
    for (const value of values) {
      const run = decodeRun(altered(PASSED, `results.testCases.0.${name}`, value))
      expect(run.testCases).toEqual([{ ...plain.testCases?.[0], ...cells }, plain.testCases?.[1]])
    }
  })

  it.each([null, 7, 'PASSED', ['PASSED']])('an entry as %j, which did not run and counts as other', (value) => {
    const other = { title: '', rawStatus: '', kind: 'other' }
    const run = decodeRun(altered(PASSED, 'results.testCases.0', value))
    expect(run.testCases).toEqual([other, plain.testCases?.[1]])
  })

  it('numbers of an unfinished run that are not whole, or negative', () => {
    const progress = { total: 485, passed: 0, failed: -1, skipped: 1.5, flaky: 2 }
    const run = decodeRun({ status: 'RUNNING', progress, outputBytes: 0 })
    expect([run.progress, run.outputBytes]).toEqual([{ total: 485, passed: 0 }, 0])
    expect(decodeRun({ status: 'RUNNING', outputBytes: -1 }).outputBytes).toBeUndefined()
  })

  it('a long text is truncated', () => {
    const long = 'x'.repeat(501)
    const truncated = `${'x'.repeat(499)}…`
    const testCases = [{ title: long, status: long }, { title: 'x'.repeat(500) }]
    const run = decodeRun({ status: long, branchName: long, results: { testCases } })
    expect(run).toMatchObject({ rawStatus: truncated, branchName: truncated })
    expect(run.testCases).toMatchObject([{ title: truncated, rawStatus: truncated }, { title: 'x'.repeat(500) }])
    expect(failureOf(() => decodeRun({ ...PASSED, results: long }))).toMatchObject({
      got: { sent: `"${'x'.repeat(498)}…` },
    })
  })
})

describe('why a test case did not pass, and where', () => {
  const REASON = { message: 'expected 41\nto be 42', filePath: 'e2e/pay.spec.ts', line: 12 }
  const caseOf = (fields: object, status = 'FAILED') =>
    decodeRun(altered(RUN, 'results.testCases', [{ title: 't', status, ...fields }])).testCases?.[0]

  it.each([
    ...['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'FLAKY', 'BLOCKED'].map((status) => [status, {}] as const),
    // Its message is the reason of the skip.
    ['SKIPPED', { line: undefined }] as const,
    ['PASSED', { message: undefined, line: undefined }] as const,
  ])('is read of a case that is %s, without %j', (status, without) => {
    expect(caseOf(REASON, status)).toMatchObject({ ...REASON, ...without })
  })

  it('has a message in visible characters, with its lines and their indentation', () => {
    const message = '\u001b[31mexpected 41\u001b[39m\r\n\tto be\u200b42\n'
    expect(caseOf({ ...REASON, message })).toMatchObject({ message: 'expected 41\n\tto be 42\n' })
  })

  it.each([null, '', 12, {}, ' \n\u001b[31m\u001b[39m\t'])('is missing if the message is %j', (message) => {
    expect(caseOf({ ...REASON, message })).toMatchObject({ message: undefined, line: 12 })
  })

  it.each([
    ['absolute', '/etc/passwd'],
    ['absolute on Windows', 'C:\\a.ts'],
    ['on another drive', 'C:a.ts'],
    ['outside the repository', 'a/../../b.ts'],
    ['the folder above', '..'],
    ['absolute behind what cannot be seen', '\u200b/etc/passwd'],
    ['with a line break', 'a\n.ts'],
    ['with half of an emoji', 'a\ud83d.ts'],
    ['empty', ''],
    ['null', null],
    ['an array', ['a.ts']],
  ])('has no place if the path is %s', (_, filePath) => {
    expect(caseOf({ ...REASON, filePath })).toMatchObject({ ...REASON, filePath: undefined, line: undefined })
    expect(caseOf({ filePath }, 'PASSED')?.filePath).toBeUndefined()
  })

  it.each(['a', '..a/b..', 'a b/é,:%.ts', 'a😀.ts', 'a'.repeat(500)])('may have the path %j', (filePath) => {
    expect(caseOf({ ...REASON, filePath })).toMatchObject({ filePath, line: 12 })
  })

  it.each([1, 2 ** 53 - 1])('may have the line %i', (line) => {
    expect(caseOf({ ...REASON, line })).toMatchObject({ line })
  })

  it.each([0, -1, 1.5, '12', null, Number.POSITIVE_INFINITY, 2 ** 53, {}])('has no line if the line is %j', (line) => {
    expect(caseOf({ ...REASON, line })).toMatchObject({ filePath: REASON.filePath, line: undefined })
  })

  it('is read of a run that did not pass, and only if the run has finished', () => {
    const { message: _, ...place } = REASON
    const reasonOf = (fields: object) => {
      const { message, filePath, line } = decodeRun({ ...RUN, ...REASON, ...fields })
      return { message, filePath, line }
    }
    expect(reasonOf({})).toEqual(REASON)
    expect(reasonOf({ status: 'INTERRUPTED', results: null })).toEqual(REASON)
    expect(reasonOf({ message: [] })).toEqual(place)
    expect(reasonOf({ filePath: '../pay.spec.ts' })).toEqual({ message: REASON.message })
    for (const status of ['PASSED', 'RUNNING']) expect(reasonOf({ status })).toEqual({})
  })
})

describe('a part of the output', () => {
  it('ends at a later byte, or where it began if there is no text yet', () => {
    for (const part of [
      { text: 'é', next: 7 },
      { text: '', next: 5 },
    ])
      expect(decodeOutput(part, 5)).toEqual(part)
  })

  // Otherwise, main would read and show one part again and again.
  it.each([5, 4, -1, 5.5, '7', undefined])('is invalid if the byte after it is %j', (next) => {
    const failure = failureOf(() => decodeOutput({ text: 'é', next }, 5))
    expect(failure).toMatchObject({ kind: 'invalid-response', expected: 'next to be a byte after 5' })
  })
})

describe('the other responses', () => {
  it.each(['7', '...', 'A_b~c:d=e+f/g@h-i', 'x'.repeat(256)])('give the id %j', (runId) => {
    expect(decodeStarted({ runId, queue: 4 }, 'runId')).toBe(runId)
    const suite = { testSuiteRunId: runId, testSuiteName: 'Checkout', projectId: 'p' }
    expect(decodeStarted(suite, 'testSuiteRunId')).toBe(runId)
    expect(decodeCancelled({ cancelled: [{ runId, was: 'QUEUED' }, { runId: 'b' }] })).toEqual([runId, 'b'])
  })

  const NO_IDS = ['', '.', '..', 'x'.repeat(257), 'a b', 'a\n', '%2e', 'a?b', 'a\\b', '$(id)', 'é']
  it.each(NO_IDS)('give no id for %j, which the message shows', (runId) => {
    expect(failureOf(() => started({ runId }))).toEqual({
      failure: true,
      kind: 'invalid-response',
      expected: 'runId to have 1 to 256 of these characters: letters, digits and `. _ ~ : = + / @ -`',
      got: { sent: JSON.stringify(runId) },
    })
  })

  it('give the results of a suite, of which each part may be missing', () => {
    const results = [
      { testId: 't-1', testName: 'pays', status: 'FLAKY' },
      { testId: 't-2', status: 'ERROR' },
      { testId: 't-3', testName: null, status: 'NEW' },
      { status: 'SKIPPED' },
      { testName: 'never', status: 7 },
      'PASSED',
    ]
    expect(decodeSuiteResult({ results }).testCases).toEqual([
      { title: 'pays', rawStatus: 'FLAKY', kind: 'flaky' },
      { title: 't-2', rawStatus: 'ERROR', kind: 'failed' },
      { title: 't-3', rawStatus: 'NEW', kind: 'other' },
      { title: '', rawStatus: 'SKIPPED', kind: 'skipped' },
      { title: 'never', rawStatus: '', kind: 'other' },
      { title: '', rawStatus: '', kind: 'other' },
    ])
  })
})

describe('a response', () => {
  it.each([
    [decodeRun, { startedAt: null }, 'status to be a string', { got: { words: 'nothing' } }],
    [decodeRun, { ...RUN, status: { is: 'PASSED' } }, 'status to be a string', { got: { words: 'an object' } }],
    [decodeRun, [], 'the response to be an object', { got: { words: 'an array' } }],
    [started, {}, 'runId to be a string', { got: { words: 'nothing' } }],
    [started, { runId: true }, 'runId to be a string', { got: { words: 'true' } }],
    [started, null, 'the response to be an object', { got: { words: 'null' } }],
    [decodeCancelled, { cancelled: 'r-1' }, 'cancelled to be an array', { got: { sent: '"r-1"' } }],
    [decodeCancelled, { cancelled: [{ runId: 'a' }, 'b'] }, 'cancelled[1] to be an object', { got: { sent: '"b"' } }],
    [decodeCancelled, { cancelled: [{ id: 'a' }] }, 'cancelled[0].runId to be a string', { got: { words: 'nothing' } }],
    [suiteStarted, { runId: 's-1' }, 'testSuiteRunId to be a string', { got: { words: 'nothing' } }],
    [decodeSuiteStatus, { status: ['FINISHED'] }, 'status to be a string', { got: { words: 'an array' } }],
    [decodeSuiteResult, {}, 'results to be an array', { got: { words: 'nothing' } }],
  ])('is invalid for %o as %j', (decode, response, expected, came) => {
    expect(failureOf(() => decode(response))).toEqual({ failure: true, kind: 'invalid-response', expected, ...came })
  })

  const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(Number.POSITIVE_INFINITY, undefined))
  const runDecoder = decodeRun as (json: unknown) => unknown
  const others = [started, decodeCancelled, suiteStarted, decodeSuiteStatus, decodeSuiteResult]

  /** Undefined if the response is invalid. */
  function decodedOrInvalid(decode: (json: unknown) => unknown, json: unknown): unknown {
    try {
      return decode(json)
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidResponse)
      const { failure } = error as InvalidResponse
      expect(failure).toMatchObject({ kind: 'invalid-response', expected: expect.any(String) })
      expect(Object.values(failure.got)).toEqual([expect.any(String)])
      expect(JSON.stringify(failure).length).toBeLessThan(1_000)
      return undefined
    }
  }

  it('is decoded or invalid, whatever JSON it is, and causes no other error', () => {
    const ofCase = ['title', 'status', 'durationMs'].map((name) => `results.testCases.0.${name}`)
    const fields = [...Object.keys(RUN), 'results.testCases', 'results.testCases.0', ...ofCase]
    fc.assert(
      fc.property(fc.constantFrom(...fields), anyJson, (path, json) => {
        for (const decode of [runDecoder, ...others]) decodedOrInvalid(decode, json)
        decodedOrInvalid(decodeRun, altered(RUN, path, json))
      }),
      { numRuns: 500 },
    )
  })

  it.each(['[', '{"results":'])('nested deeper than a program can follow is invalid: %s', (opening) => {
    const depth = 200_000
    const json = JSON.parse(`${opening.repeat(depth)}1${(opening === '[' ? ']' : '}').repeat(depth)}`)
    for (const decode of [runDecoder, ...others]) expect(decodedOrInvalid(decode, json)).toBeUndefined()
    expect(decodedOrInvalid(decodeRun, { status: json })).toBeUndefined()
    // Fields that the interface does not have may be as deep.
    expect(decodedOrInvalid(decodeRun, { ...RUN, more: json })).toEqual(decodeRun(RUN))
  })
})
