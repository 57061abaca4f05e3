import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/outcome/failure.ts'
import { isTerminal, RUN_STATUSES } from '../../src/outcome/run.ts'
import {
  decodeCancelled,
  decodeRun,
  decodeStarted,
  decodeSuiteResult,
  decodeSuiteStarted,
  decodeSuiteStatus,
} from '../../src/service/decode.ts'

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

/** An answer with one of its fields, named by its path, replaced or (by undefined) taken away. */
function altered(answer: object, path: string, value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(answer))
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
        { title: 'cart > adds', status: 'PASSED', outcome: 'passed', ran: true, durationMs: 12 },
        { title: 'cart > removes', status: 'FAILED', outcome: 'failed', ran: true, durationMs: 3_400 },
      ],
      raw: RUN,
    })
  })

  it('is decoded with its status alone, as a queued one comes', () => {
    for (const queued of [{ status: 'QUEUED' }, { ...nulls(), status: 'QUEUED' }]) {
      expect(decodeRun(queued)).toEqual({
        status: 'QUEUED',
        rawStatus: 'QUEUED',
        hasFinishedAt: false,
        raw: queued,
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
    const answer = {
      ...RUN,
      shard: 3,
      results: { video: 'v', testCases: [{ title: 't', status: 'QUARANTINED', durationMs: 1.5, retries: 2 }] },
    }
    const run = decodeRun(answer)
    expect(run.raw).toBe(answer)
    expect(run.testCases).toEqual([{ title: 't', status: 'QUARANTINED', outcome: 'other', ran: true, durationMs: 1.5 }])
  })

  it('has no time where the service sent a date that cannot be read', () => {
    const run = decodeRun({ ...RUN, startedAt: 'yesterday', finishedAt: '' })
    expect(run).not.toHaveProperty('startedAt')
    expect(run).not.toHaveProperty('finishedAt')
    expect(run.hasFinishedAt).toBe(false)
  })

  it('is finished where its finishing time is set, even if it cannot be read', () => {
    const run = decodeRun({ ...RUN, status: 'QUARANTINED', finishedAt: 'just now' })
    expect(run).not.toHaveProperty('finishedAt')
    expect(isTerminal(run)).toBe(true)
  })

  it('counts no negative time', () => {
    const run = decodeRun(altered(RUN, 'results.testCases.0.durationMs', -5))
    expect(run.testCases?.[0]?.durationMs).toBe(0)
  })

  it.each([
    ['status', undefined, 'status to be a string', 'nothing'],
    ['status', null, 'status to be a string', 'null'],
    ['status', 7, 'status to be a string', '7'],
    ['startedAt', 1_700_000_000, 'startedAt to be a string', '1700000000'],
    ['finishedAt', false, 'finishedAt to be a string', 'false'],
    ['branchName', ['main'], 'branchName to be a string', 'an array'],
    ['results', 'none', 'results to be an object', '"none"'],
    ['results', [], 'results to be an object', 'an array'],
    ['results', {}, 'results.testCases to be an array', 'nothing'],
    ['results.testCases', { 0: {} }, 'results.testCases to be an array', 'an object'],
    ['results.testCases.1', null, 'results.testCases[1] to be an object', 'null'],
    ['results.testCases.1.title', undefined, 'results.testCases[1].title to be a string', 'nothing'],
    ['results.testCases.1.title', 5, 'results.testCases[1].title to be a string', '5'],
    ['results.testCases.1.status', undefined, 'results.testCases[1].status to be a string', 'nothing'],
    ['results.testCases.1.status', {}, 'results.testCases[1].status to be a string', 'an object'],
    ['results.testCases.1.durationMs', undefined, 'results.testCases[1].durationMs to be a number', 'nothing'],
    ['results.testCases.1.durationMs', '12', 'results.testCases[1].durationMs to be a number', '"12"'],
  ])('is broken with %s as %j', (path, value, expected, got) => {
    expect(failureOf(() => decodeRun(altered(RUN, path, value)))).toEqual({ kind: 'invalid-response', expected, got })
  })

  it('is broken with a duration beyond all numbers', () => {
    const answer = JSON.parse(
      '{"status":"PASSED","results":{"testCases":[{"title":"t","status":"PASSED","durationMs":1e999}]}}',
    )
    expect(failureOf(() => decodeRun(answer))).toEqual({
      kind: 'invalid-response',
      expected: 'results.testCases[0].durationMs to be a number',
      got: 'Infinity',
    })
  })
})

describe('the other answers', () => {
  it('give the id of the run that was started', () => {
    expect(decodeStarted({ runId: 'r-1', queue: 4 })).toBe('r-1')
    expect(decodeSuiteStarted({ testSuiteRunId: 's-1', testSuiteName: 'Checkout', projectId: 'p' })).toBe('s-1')
  })

  it('give the ids of the runs that were cancelled', () => {
    expect(decodeCancelled({ cancelled: [{ runId: 'a', was: 'QUEUED' }, { runId: 'b' }] })).toEqual(['a', 'b'])
    expect(decodeCancelled({ cancelled: [] })).toEqual([])
  })

  it('give the status of a suite', () => {
    expect(decodeSuiteStatus({ status: 'FINISHED' })).toBe('FINISHED')
  })

  it('give the results of a suite, without durations', () => {
    const results = [
      ...SUITE_RESULT.results,
      { testId: 't-2', status: 'ERROR' },
      { testId: 't-3', testName: null, status: 'NEW' },
    ]
    expect(decodeSuiteResult({ results })).toEqual({
      statuses: ['FLAKY', 'ERROR', 'NEW'],
      testCases: [
        { title: 'pays', status: 'FLAKY', outcome: 'flaky', ran: true },
        { title: 't-2', status: 'ERROR', outcome: 'failed', ran: true },
        { title: 't-3', status: 'NEW', outcome: 'other', ran: true },
      ],
    })
  })

  it.each([
    [decodeStarted, {}, 'runId to be a string', 'nothing'],
    [decodeStarted, { runId: 12 }, 'runId to be a string', '12'],
    [decodeStarted, ['r-1'], 'the answer to be an object', 'an array'],
    [decodeStarted, null, 'the answer to be an object', 'null'],
    [decodeCancelled, {}, 'cancelled to be an array', 'nothing'],
    [decodeCancelled, { cancelled: 'r-1' }, 'cancelled to be an array', '"r-1"'],
    [decodeCancelled, { cancelled: [{ runId: 'a' }, 'b'] }, 'cancelled[1] to be an object', '"b"'],
    [decodeCancelled, { cancelled: [{ id: 'a' }] }, 'cancelled[0].runId to be a string', 'nothing'],
    [decodeSuiteStarted, { runId: 's-1' }, 'testSuiteRunId to be a string', 'nothing'],
    [decodeSuiteStatus, { status: true }, 'status to be a string', 'true'],
    [decodeSuiteResult, { results: {} }, 'results to be an array', 'an object'],
    [decodeSuiteResult, { results: [{ testName: 'a' }] }, 'results[0].status to be a string', 'nothing'],
    [decodeSuiteResult, { results: [{ status: 'PASSED' }] }, 'results[0].testName to be a string', 'nothing'],
  ])('are broken otherwise: %o of %j', (decode, answer, expected, got) => {
    expect(failureOf(() => decode(answer))).toEqual({ kind: 'invalid-response', expected, got })
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

  function decodedOrBroken(decode: (json: unknown) => unknown, json: unknown): unknown {
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

  it.each(Object.entries(decoders))('is decoded by %s or broken, and throws nothing else', (_, decode) => {
    fc.assert(fc.property(anyJson, (json) => void decodedOrBroken(decode, json)))
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

  it('in the place of any field of a run leaves a run or a broken answer', () => {
    fc.assert(
      fc.property(fc.constantFrom(...fields, ...fieldsOfCase), anyJson, (path, value) => {
        const run = decodedOrBroken((json) => decodeRun(json), altered(RUN, path, value))
        if (run !== undefined) expect(run).toMatchObject({ status: expect.any(String), raw: expect.anything() })
      }),
      { numRuns: 500 },
    )
  })

  it('may be added to a run, which it changes in nothing else', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anyJson), (more) => {
        const { raw: _, ...run } = decodeRun({ ...more, ...RUN })
        const { raw: __, ...plain } = decodeRun(RUN)
        expect(run).toEqual(plain)
      }),
    )
  })

  it.each(['[', '{"results":'])('nested deeper than a program can follow is broken: %s', (opening) => {
    const depth = 200_000
    const json = JSON.parse(`${opening.repeat(depth)}1${(opening === '[' ? ']' : '}').repeat(depth)}`)
    for (const decode of Object.values(decoders)) expect(decodedOrBroken(decode, json)).toBeUndefined()
    expect(decodedOrBroken(decodeRun, { status: json })).toBeUndefined()
  })

  it('that is text is told whole, to be cut where the key has been masked', () => {
    const title = 'x'.repeat(1_000_000)
    expect(failureOf(() => decodeRun({ status: 'PASSED', results: title }))).toMatchObject({ got: `"${title}"` })
  })
})
