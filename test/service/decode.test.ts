import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/outcome/failure.ts'
import { countTestCases, isTerminal, RUN_STATUSES, type Run } from '../../src/outcome/run.ts'
import * as decode from '../../src/service/decode.ts'
import {
  decodeCancelled,
  decodeStarted,
  decodeSuiteResult,
  decodeSuiteStarted,
  decodeSuiteStatus,
} from '../../src/service/decode.ts'

const decodeRun = (json: unknown) => decode.decodeRun({ json, text: 'the text' })

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

const SUITE_RESULT = {
  testSuiteName: 'Checkout',
  results: [{ testId: 't-1', testName: 'pays', status: 'FLAKY' }],
}

/** A response with one of its fields, named by its path, replaced or (by undefined) taken away. */
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
    if (error instanceof ServiceError) return error.failure
    throw error
  }
  throw new Error('it was decoded')
}

describe('a run', () => {
  it('is decoded with all its fields', () => {
    expect(decodeRun(RUN)).toEqual({
      status: 'FAILED',
      rawStatus: 'FAILED',
      startedAt: new Date('2026-03-04T05:06:07.000Z'),
      finishedAt: new Date('2026-03-04T05:07:07.500Z'),
      hasFinishedAt: true,
      branchName: 'main',
      testCases: [
        { title: 'cart > adds', rawStatus: 'PASSED', outcome: 'passed', ran: true, durationMs: 12 },
        { title: 'cart > removes', rawStatus: 'FAILED', outcome: 'failed', ran: true, durationMs: 3_400 },
      ],
      responseText: 'the text',
    })
  })

  it('is decoded with its status alone, as a queued one comes', () => {
    for (const queued of [{ status: 'QUEUED' }, { ...nulls(), status: 'QUEUED' }]) {
      expect(decodeRun(queued)).toEqual({
        status: 'QUEUED',
        rawStatus: 'QUEUED',
        hasFinishedAt: false,
        responseText: 'the text',
      })
    }
    function nulls() {
      return { startedAt: null, finishedAt: null, branchName: null, results: null }
    }
  })

  it.each(RUN_STATUSES)('has the status %s of the interface', (status) => {
    expect(decodeRun({ status }).status).toBe(status)
  })

  it.each(['PAUSED', 'passed', ' PASSED', ''])('has the unknown status %j in the words of the service', (status) => {
    expect(decodeRun({ status })).toMatchObject({ status: 'UNKNOWN', rawStatus: status })
  })

  it('keeps the fields and the test-case statuses that the interface does not know', () => {
    const response = {
      ...RUN,
      shard: 3,
      results: { video: 'v', testCases: [{ title: 't', status: 'QUARANTINED', durationMs: 1.5, retries: 2 }] },
    }
    const run = decodeRun(response)
    expect(run.responseText).toBe('the text')
    expect(run.testCases).toEqual([
      { title: 't', rawStatus: 'QUARANTINED', outcome: 'other', ran: false, durationMs: 1.5 },
    ])
  })

  it('has finished if its finishing time is set, even if that cannot be read', () => {
    const run = decodeRun({ ...RUN, status: 'QUARANTINED', finishedAt: 'just now' })
    expect(run.finishedAt).toBeUndefined()
    expect(isTerminal(run)).toBe(true)
  })

  it.each([undefined, null, ''])('has not finished with the finishing time %j', (finishedAt) => {
    const run = decodeRun({ ...RUN, status: 'QUARANTINED', finishedAt })
    expect(isTerminal(run)).toBe(false)
  })

  it.each([
    ['status', undefined, 'status to be a string', 'nothing'],
    ['status', null, 'status to be a string', 'null'],
    ['status', 7, 'status to be a string', '7'],
    ['status', { is: 'PASSED' }, 'status to be a string', 'an object'],
    ['status', ['PASSED'], 'status to be a string', 'an array'],
  ])('is invalid with %s as %j, whatever else is right', (path, value, expected, got) => {
    expect(failureOf(() => decodeRun(altered(RUN, path, value)))).toEqual({ kind: 'invalid-response', expected, got })
  })

  it.each([null, true, [], 'PASSED', 1])('is invalid as %j', (response) => {
    expect(failureOf(() => decodeRun(response))).toMatchObject({ expected: 'the response to be an object' })
  })
})

// The gate rests on the results of a PASSED run, and on nothing else that is optional.
describe('the results of a PASSED run', () => {
  const PASSED = { ...RUN, status: 'PASSED' }

  it.each([undefined, null])('may be missing: %j', (results) => {
    expect(decodeRun({ ...PASSED, results }).testCases).toBeUndefined()
    expect(decodeRun({ ...PASSED, results: { testCases: results } }).testCases).toBeUndefined()
  })

  it.each([
    ['results', 'none', 'results to be an object', '"none"'],
    ['results', [], 'results to be an object', 'an array'],
    ['results', 0, 'results to be an object', '0'],
    ['results.testCases', { 0: {} }, 'results.testCases to be an array', 'an object'],
    ['results.testCases', '', 'results.testCases to be an array', '""'],
    ['results.testCases', false, 'results.testCases to be an array', 'false'],
  ])('are invalid with %s as %j, of which any other run has none', (path, value, expected, got) => {
    expect(failureOf(() => decodeRun(altered(PASSED, path, value)))).toEqual({
      kind: 'invalid-response',
      expected,
      got,
    })
    for (const status of ['QUEUED', 'RUNNING', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'PAUSED']) {
      expect(decodeRun(altered({ ...RUN, status }, path, value))).toMatchObject({ rawStatus: status })
      expect(decodeRun(altered({ ...RUN, status }, path, value)).testCases).toBeUndefined()
    }
  })
})

describe('what costs its own cell in the report, and nothing more', () => {
  const plain = decodeRun({ ...RUN, status: 'PASSED' })
  const STRANGE = [undefined, null, 0, 17, true, [], {}, ['x'], Number.POSITIVE_INFINITY]

  it.each(['startedAt', 'finishedAt'] as const)('a strange %s', (name) => {
    for (const value of [...STRANGE, '', 'yesterday', '2026-99-99']) {
      const run = decodeRun({ ...RUN, status: 'PASSED', [name]: value })
      expect(run[name]).toBeUndefined()
      expect(run).toMatchObject({ status: 'PASSED', testCases: plain.testCases })
    }
  })

  it('a strange branchName', () => {
    for (const value of [...STRANGE, '']) {
      const run = decodeRun({ ...RUN, status: 'PASSED', branchName: value })
      expect(run.branchName).toBeUndefined()
      expect(run).toMatchObject({ status: 'PASSED', testCases: plain.testCases })
    }
  })

  /** The first test case, if one of its fields has this value. */
  function caseWith(name: string, value: unknown) {
    const run = decodeRun(altered({ ...RUN, status: 'PASSED' }, `results.testCases.0.${name}`, value))
    expect(run.testCases?.[1]).toEqual(plain.testCases?.[1])
    return run.testCases?.[0]
  }

  it('a strange title: the case is untitled', () => {
    for (const value of [...STRANGE.filter((one) => one !== Number.POSITIVE_INFINITY), '']) {
      expect(caseWith('title', value)).toEqual({ ...plain.testCases?.[0], title: '(untitled)' })
    }
  })

  it('a strange durationMs, such as the null of a skipped case', () => {
    for (const value of [undefined, null, '12', true, [], {}]) {
      expect(caseWith('durationMs', value)).toEqual({ ...plain.testCases?.[0], durationMs: undefined })
    }
    expect(caseWith('durationMs', -5)?.durationMs).toBe(0)
    for (const huge of ['1e999', '1e308', '9007199254740992']) {
      const run = decodeRun(
        JSON.parse(`{"status":"FAILED","results":{"testCases":[{"title":"t","durationMs":${huge}}]}}`),
      )
      expect(run.testCases?.[0]?.durationMs, huge).toBeUndefined()
    }
  })

  it('a strange status of a case: it did not run, and counts as other', () => {
    for (const value of [...STRANGE.filter((one) => one !== Number.POSITIVE_INFINITY), '']) {
      expect(caseWith('status', value)).toEqual({
        ...plain.testCases?.[0],
        rawStatus: '',
        outcome: 'other',
        ran: false,
      })
    }
  })

  it('an entry that is no object: it did not run, and counts as other', () => {
    for (const value of [null, 7, 'PASSED', ['PASSED'], true]) {
      const run = decodeRun(altered({ ...RUN, status: 'PASSED' }, 'results.testCases.0', value))
      expect(run.testCases).toEqual([
        { title: '(untitled)', rawStatus: '', outcome: 'other', ran: false },
        plain.testCases?.[1],
      ])
    }
  })

  it('a text that is longer than anything of use is truncated', () => {
    const long = 'x'.repeat(10_001)
    const truncated = `${'x'.repeat(9_999)}…`
    const run = decodeRun({
      status: long,
      branchName: long,
      results: { testCases: [{ title: long, status: long }, { title: 'x'.repeat(10_000) }] },
    })
    expect(run).toMatchObject({ rawStatus: truncated, branchName: truncated })
    expect(run.testCases).toMatchObject([{ title: truncated, rawStatus: truncated }, { title: 'x'.repeat(10_000) }])
    expect(decodeSuiteStatus({ status: long })).toBe(truncated)
  })
})

describe('the other responses', () => {
  it('give the id of the run that was started', () => {
    expect(decodeStarted({ runId: 'r-1', queue: 4 })).toBe('r-1')
    expect(decodeSuiteStarted({ testSuiteRunId: 's-1', testSuiteName: 'Checkout', projectId: 'p' })).toBe('s-1')
  })

  it('give the text of an id that is a whole number', () => {
    expect(decodeStarted({ runId: 12 })).toBe('12')
    expect(decodeStarted({ runId: Number.MAX_SAFE_INTEGER })).toBe('9007199254740991')
    expect(decodeSuiteStarted({ testSuiteRunId: 0 })).toBe('0')
    expect(decodeCancelled({ cancelled: [{ runId: 12 }, { runId: '12' }] })).toEqual(['12', '12'])
  })

  it.each([
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('give no id for %d, whose digits are not known', (runId) => {
    expect(failureOf(() => decodeStarted({ runId }))).toMatchObject({ expected: 'runId to be a string' })
  })

  it('give the ids of the runs that were cancelled', () => {
    expect(decodeCancelled({ cancelled: [{ runId: 'a', was: 'QUEUED' }, { runId: 'b' }] })).toEqual(['a', 'b'])
    expect(decodeCancelled({ cancelled: [] })).toEqual([])
  })

  it('give the status of a suite', () => {
    expect(decodeSuiteStatus({ status: 'FINISHED' })).toBe('FINISHED')
  })

  it('give the results of a suite, of which each part may be missing', () => {
    const results = [
      ...SUITE_RESULT.results,
      { testId: 't-2', status: 'ERROR' },
      { testId: 't-3', testName: null, status: 'NEW' },
      { status: 'SKIPPED' },
      { testName: 'never', status: 7 },
      'PASSED',
    ]
    expect(decodeSuiteResult({ results })).toEqual({
      statuses: ['FLAKY', 'ERROR', 'NEW', 'SKIPPED', '', ''],
      testCases: [
        { title: 'pays', rawStatus: 'FLAKY', outcome: 'flaky', ran: true },
        { title: 't-2', rawStatus: 'ERROR', outcome: 'failed', ran: true },
        { title: 't-3', rawStatus: 'NEW', outcome: 'other', ran: false },
        { title: '(untitled)', rawStatus: 'SKIPPED', outcome: 'skipped', ran: false },
        { title: 'never', rawStatus: '', outcome: 'other', ran: false },
        { title: '(untitled)', rawStatus: '', outcome: 'other', ran: false },
      ],
    })
  })

  it.each([
    [decodeStarted, {}, 'runId to be a string', 'nothing'],
    [decodeStarted, { runId: true }, 'runId to be a string', 'true'],
    [decodeStarted, ['r-1'], 'the response to be an object', 'an array'],
    [decodeStarted, null, 'the response to be an object', 'null'],
    [decodeCancelled, {}, 'cancelled to be an array', 'nothing'],
    [decodeCancelled, { cancelled: 'r-1' }, 'cancelled to be an array', '"r-1"'],
    [decodeCancelled, { cancelled: [{ runId: 'a' }, 'b'] }, 'cancelled[1] to be an object', '"b"'],
    [decodeCancelled, { cancelled: [{ id: 'a' }] }, 'cancelled[0].runId to be a string', 'nothing'],
    [decodeSuiteStarted, { runId: 's-1' }, 'testSuiteRunId to be a string', 'nothing'],
    [decodeSuiteStatus, { status: true }, 'status to be a string', 'true'],
    [decodeSuiteResult, { results: {} }, 'results to be an array', 'an object'],
    [decodeSuiteResult, {}, 'results to be an array', 'nothing'],
  ])('are invalid otherwise: %o of %j', (decode, response, expected, got) => {
    expect(failureOf(() => decode(response))).toEqual({ kind: 'invalid-response', expected, got })
  })

  it.each([
    decodeCancelled,
    decodeSuiteStarted,
    decodeSuiteStatus,
    decodeSuiteResult,
  ])('are invalid if they are no object: %o', (decode) => {
    expect(failureOf(() => decode(['r-1']))).toMatchObject({
      expected: 'the response to be an object',
      got: 'an array',
    })
  })
})

describe('any JSON at all', () => {
  const decoders = {
    decodeStarted,
    decodeRun,
    decodeCancelled,
    decodeSuiteStarted,
    decodeSuiteStatus,
    decodeSuiteResult,
  }
  const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(Number.POSITIVE_INFINITY, undefined))

  function decodedOrInvalid(decode: (json: unknown) => unknown, json: unknown): unknown {
    try {
      return decode(json)
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError)
      const { failure } = error as ServiceError
      expect(failure).toEqual({ kind: 'invalid-response', expected: expect.any(String), got: expect.any(String) })
      expect(JSON.stringify(failure).length).toBeLessThan(1_000)
      return undefined
    }
  }

  it.each(Object.entries(decoders))('is decoded by %s or invalid, and throws nothing else', (_, decode) => {
    fc.assert(fc.property(anyJson, (json) => void decodedOrInvalid(decode, json)))
  })

  const fields = [
    'status',
    'startedAt',
    'finishedAt',
    'branchName',
    'results',
    'results.testCases',
    'results.testCases.0',
  ]
  const fieldsOfCase = ['title', 'status', 'durationMs'].map((name) => `results.testCases.0.${name}`)

  it('in the place of any field of a run leaves a run or an invalid response', () => {
    fc.assert(
      fc.property(fc.constantFrom(...fields, ...fieldsOfCase), anyJson, (path, value) => {
        const run = decodedOrInvalid((json) => decodeRun(json), altered(RUN, path, value))
        if (run !== undefined)
          expect(run).toMatchObject({ status: expect.any(String), responseText: expect.any(String) })
      }),
      { numRuns: 500 },
    )
  })

  it('may be added to a run, which it changes in nothing else', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anyJson), (more) => {
        expect(decodeRun({ ...more, ...RUN })).toEqual(decodeRun(RUN))
      }),
    )
  })

  it.each(['[', '{"results":'])('nested deeper than a program can follow is invalid: %s', (opening) => {
    const depth = 200_000
    const json = JSON.parse(`${opening.repeat(depth)}1${(opening === '[' ? ']' : '}').repeat(depth)}`)
    for (const decode of Object.values(decoders)) expect(decodedOrInvalid(decode, json)).toBeUndefined()
    expect(decodedOrInvalid(decodeRun, { status: json })).toBeUndefined()
  })

  it('that is a long text is quoted in part', () => {
    const { got } = failureOf(() => decodeRun({ status: 'PASSED', results: 'x'.repeat(1_000_000) })) as { got: string }
    expect(got).toBe(`"${'x'.repeat(9_999)}…"`)
  })

  it('is a pass with a case that ran only if the service said so', () => {
    const field = fc.oneof(fc.constantFrom('PASSED', 'FLAKY', 'FAILED', 'SKIPPED', 'passed', 'PENDING', ''), anyJson)
    const entry = fc.oneof(fc.record({ title: anyJson, status: field, durationMs: anyJson }), anyJson)
    const response = fc.record({ status: field, results: fc.oneof(fc.record({ testCases: fc.array(entry) }), anyJson) })
    fc.assert(
      fc.property(response, (json) => {
        const run = decodedOrInvalid(decodeRun, json) as Run | undefined
        if (run === undefined) return
        const ran = new Set<unknown>(['PASSED', 'FLAKY', 'FAILED', 'TIMEDOUT', 'INTERRUPTED', 'ERROR'])
        const entries = (json.results as { testCases?: { status?: unknown }[] } | null | undefined)?.testCases
        const expected = Array.isArray(entries) ? entries.filter((one) => ran.has(one?.status)).length : 0
        expect(run.status === 'PASSED').toBe(json.status === 'PASSED')
        expect(countTestCases(run.testCases ?? []).ran).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })
})
