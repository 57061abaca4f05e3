import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitResults } from '../../src/frameworks/fit-results.ts'
import type { TestCase } from '../../src/frameworks/report.ts'
import { describeRun, describeSuiteResult } from '../../src/http/response-bodies.ts'
import type { Run } from '../../src/runs/run.ts'

const GATE_LIMIT_BYTES = 16 * 1024 * 1024

/** Most tests have 1% of the limit, and 1% of the test cases. */
const LIMIT_BYTES = 155 * 1024
const WHOLE_RESPONSE_BYTES = 160 * 1024

function fit(testCases: readonly TestCase[], limitBytes?: number): readonly TestCase[] {
  return fitResults({ testCases, isComplete: true, errors: [], said: [] }, limitBytes).testCases
}

function casesOf(count: number, create: (index: number) => Partial<TestCase>): TestCase[] {
  const [status, durationMs] = ['PASSED', 3] as const
  return Array.from({ length: count }, (_, index) => ({ title: `test ${index}`, status, durationMs, ...create(index) }))
}

function failing(count: number, chars: number): TestCase[] {
  return casesOf(count, (index) => ({
    title: `a list of tests > test ${index}`,
    status: 'FAILED',
    message: `failure ${index}: ${'x'.repeat(chars)}`,
    filePath: `shop/test/file-${index % 100}.test.ts`,
    line: 12,
  }))
}

/** Of the larger one of the two responses that have the test cases. */
function bytesOf(testCases: readonly TestCase[]): number {
  const phase = { status: 'FAILED', startedAt: null, finishedAt: '2026-01-01T00:00:00.000Z', testCases } as const
  const run: Run = { runId: '1', projectId: 'shop', suite: 'all', phase }
  return Math.max(
    ...[describeRun(run), describeSuiteResult(run)].map((body) => Buffer.byteLength(JSON.stringify(body))),
  )
}

describe('the test cases of a response', () => {
  it('are whole if they fit', () => {
    const testCases = [...casesOf(10, () => ({ filePath: 'a.test.ts' })), ...failing(10, 4000)]
    expect(fit(testCases, LIMIT_BYTES)).toBe(testCases)
  })

  it('lose first the places of those that passed or were skipped', () => {
    const filePath = `shop/${'folder/'.repeat(12)}test.ts`
    const passed = casesOf(1000, (index) => ({ filePath, status: index % 2 === 0 ? 'PASSED' : 'SKIPPED' }))
    const fitted = fit([...passed, ...failing(10, 400)], LIMIT_BYTES)
    expect(fitted.filter((testCase) => testCase.filePath === filePath)).toEqual([])
    expect(fitted[999]).toEqual({ title: 'test 999', status: 'SKIPPED', durationMs: 3 })
    expect(fitted.slice(-10)).toEqual(failing(10, 400))
    expect(bytesOf(fitted)).toBeLessThan(WHOLE_RESPONSE_BYTES)
  })

  it('keep more than 400 characters of the last of long messages, and its place', () => {
    const [count, chars, kept] = [50, 4000, 400]
    const fitted = fit(failing(count, chars), LIMIT_BYTES)
    expect(bytesOf(fitted)).toBeLessThan(WHOLE_RESPONSE_BYTES)
    expect(fitted[0]).toEqual(failing(1, chars)[0])
    const { message = '', ...others } = fitted.at(-1) ?? {}
    expect(message.length).toBeGreaterThan(kept)
    expect(message).toMatch(new RegExp(`^failure ${count - 1}: x`))
    expect(others).toMatchObject({ filePath: `shop/test/file-${(count - 1) % 100}.test.ts`, line: 12 })
  })

  it('lose the messages of the last cases if all of them are short and there is no room', () => {
    const fitted = fit(failing(1000, 40), LIMIT_BYTES)
    expect(bytesOf(fitted)).toBeLessThan(WHOLE_RESPONSE_BYTES)
    expect(fitted[0]?.message).toMatch(/^failure 0: x/)
    expect(fitted.at(-1)).toEqual({ ...failing(1000, 40).at(-1), message: undefined })
  })

  it.each([
    ['150000 titles of letters', 150_000, 'x', GATE_LIMIT_BYTES, undefined],
    ['emoji', 1500, '😀', WHOLE_RESPONSE_BYTES, LIMIT_BYTES],
    ['control characters', 1500, '\u0001', WHOLE_RESPONSE_BYTES, LIMIT_BYTES],
  ])('keep the beginning and the end of titles of 80 characters in 30 files: %s', (_what, count, letter, responseBytes, limitBytes) => {
    const testCases = casesOf(count, (index) => ({
      title: `${String(index).padStart(6, '0')}${letter.repeat(67)} ${String(index).padStart(6, '0')}`,
      filePath: `test/file-${index % 30}.test.ts`,
      ...(index === 0 ? { status: 'FAILED', message: 'Error: it rains', line: 7 } : {}),
    }))
    const fitted = fit(testCases, limitBytes)
    expect(bytesOf(fitted)).toBeLessThan(responseBytes)
    expect(new Set(fitted.map(({ title }) => title)).size).toBe(count)
    expect(fitted.at(-1)?.title).toMatch(/^(149|001).*….*(49999|01499)$/s)
    expect(fitted.every(({ title }) => title.isWellFormed())).toBe(true)
    expect(fitted[0]).toMatchObject({ status: 'FAILED', message: 'Error: it rains' })
  })

  it('fit, with the numbers that the result of a test suite gives to the most test cases', () => {
    const status = 'FAILED' as const
    const testCases = casesOf(150_000, () => ({ title: 'x'.repeat(31), status }))
    const limitBytes = bytesOf(testCases) - 1
    expect(bytesOf(fit(testCases, limitBytes))).toBeLessThanOrEqual(limitBytes)
  })

  it('fit, whatever is in them', () => {
    const long = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.repeat(10))
    const cases = fc.record<TestCase>({
      title: long,
      status: fc.constantFrom('PASSED', 'FAILED', 'INTERRUPTED', 'SKIPPED'),
      durationMs: fc.nat(),
      message: fc.option(long, { nil: undefined }),
      filePath: fc.option(long, { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(cases, { minLength: 1, maxLength: 20 }), (some) => {
        const fitted = fit(Array.from({ length: 400 / some.length }, () => some).flat(), LIMIT_BYTES)
        expect(bytesOf(fitted)).toBeLessThan(WHOLE_RESPONSE_BYTES)
      }),
      { numRuns: 30 },
    )
  })
})
