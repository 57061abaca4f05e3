import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/outcome/failure.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { failureWithoutKey, keyRedaction, resultWithoutKey, runWithoutKey } from '../../src/outcome/without-key.ts'
import { countsOf, headline } from '../../src/report/headline.ts'
import { aRun, aStepResult, aTestCase } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { apiKey } from '../support/hostile-text.ts'

const KEY = 'sk_live_"<&\\$1'
const redact = keyRedaction(KEY)

const NAMES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

describe('the key', () => {
  it('is masked literally, however truncate it is, and not at all where there is none', () => {
    expect(keyRedaction('a.b')('a.b axb')).toBe('*** axb')
    expect(keyRedaction('k')('ok')).toBe('o***')
    expect(keyRedaction('')('text')).toBe('text')
  })

  const ESCAPES: Readonly<Record<string, (character: string, code: number) => string>> = {
    'in an address': encodeURIComponent,
    'in an address, with every special character': (_, code) => `%${code.toString(16).toUpperCase()}`,
    'in an address, in small letters': (_, code) => `%${code.toString(16)}`,
    'in JSON': (character) => JSON.stringify(character).slice(1, -1),
    'in JSON within JSON': (character) => JSON.stringify(JSON.stringify(character)).slice(3, -3),
    'in JSON for a page': (_, code) => `\\u${code.toString(16).padStart(4, '0')}`,
    'with a slash that is escaped, too': (character) => (character === '/' ? '\\/' : character),
    'in HTML, by name': (character, code) => NAMES[character] ?? `&#${code};`,
    'in HTML, by number': (_, code) => `&#${code};`,
    'in HTML, by hexadecimal number': (_, code) => `&#x${code.toString(16).toUpperCase()};`,
  }

  it.each(Object.entries(ESCAPES))('is masked %s, whatever stands around it', (_, form) => {
    fc.assert(
      fc.property(apiKey(), fc.string(), fc.string(), (key, before, after) => {
        const escaped = key.replace(/[^\w.~-]/g, (character) => form(character, character.charCodeAt(0)))
        fc.pre(!`${before}${after}`.includes(escaped))
        expect(keyRedaction(key)(`${before} ${escaped} ${after}`)).toContain(' *** ')
      }),
    )
  })

  it('is looked for in linear time, whatever the key and the text', () => {
    for (const piece of ['\\', '\\"', '&#0', '%5', '&', 'a']) {
      const key = `${piece.repeat(12)}!`
      const text = `${piece.repeat(300_000)}?`
      expect(keyRedaction(key)(text)).toBe(text)
      expect(keyRedaction(key)(text + key)).toContain('***')
    }
  })

  it.each([
    'base64',
    'base64url',
  ] as const)('is masked in %s, but for what it shares with its neighbours', (encoding) => {
    fc.assert(
      fc.property(apiKey(), fc.string(), fc.string(), (key, before, after) => {
        fc.pre(key.length >= 12)
        const text = keyRedaction(key)(Buffer.from(`${before}${key}${after}`).toString(encoding))
        const [first = '', last = '', ...others] = text.split('***')
        fc.pre(others.length === 0)
        // At most one byte of the key at each end is left to be read.
        const bytes = (part: string) => Math.floor((part.replace(/=+$/, '').length * 6) / 8)
        expect(text).toContain('***')
        expect(bytes(first)).toBeLessThanOrEqual(Buffer.byteLength(before) + 1)
        expect(bytes(last)).toBeLessThanOrEqual(Buffer.byteLength(after) + 2)
      }),
    )
  })

  it('is not looked for in pieces so truncate that they could be anything', () => {
    const truncate = keyRedaction('abc')
    expect(truncate(Buffer.from('abc').toString('base64'))).toBe('YWJj')
    expect(truncate('abc')).toBe('***')
  })
})

describe('a run', () => {
  it('is told without the key in any of its texts, and its meaning stays', () => {
    const run = aRun({
      status: KEY,
      branchName: KEY,
      testCases: [aTestCase({ title: `a ${KEY} b`, status: 'FAILED' }), aTestCase({ title: 'c', status: KEY })],
    })
    const told = runWithoutKey(run, redact)
    expect(told).toMatchObject({ status: 'UNKNOWN', rawStatus: '***', branchName: '***' })
    expect(told.testCases).toMatchObject([
      { title: 'a *** b', outcome: 'failed' },
      { title: 'c', status: '***' },
    ])
    expect(told.raw).toBe(run.raw)
    expect(run.testCases?.[0]?.title).toBe(`a ${KEY} b`)
  })

  it.each(['PASSED', 'passed', 'ED', 'A', 'i'])('means the same, even where the key is "%s"', (key) => {
    const run = aRun({ testCases: [aTestCase(), aTestCase({ status: 'FAILED' })] })
    const told = runWithoutKey(run, keyRedaction(key))
    expect(told.status).toBe(run.status)
    expect(told.testCases?.map(({ outcome, ran }) => [outcome, ran])).toEqual(
      run.testCases?.map(({ outcome, ran }) => [outcome, ran]),
    )
    expect(told.startedAt).toBe(run.startedAt)
  })

  it('shares all its test cases where the key is in none of them', () => {
    const run = aRun()
    expect(runWithoutKey(run, redact).testCases).toBe(run.testCases)
  })
})

describe('a result without the key', () => {
  it('has it masked in what the user gave, and in an id that was refused', () => {
    const told = resultWithoutKey(
      aStepResult({
        runId: `id ${KEY}`,
        target: { kind: 'test-suite', testSuiteId: KEY },
        parameters: { branch: `${KEY}${KEY}`, environment: KEY, frameworkProject: KEY, runGroup: KEY },
        ending: {
          kind: 'gave-up',
          during: 'start',
          failure: { kind: 'invalid-response', expected: 'an id', got: untrusted(`${KEY}!`) },
          cancellation: { kind: 'cancelled' },
        },
      }),
      redact,
    )
    expect(JSON.stringify(told)).not.toContain(JSON.stringify(KEY).slice(1, -1))
    expect(told).toMatchObject({
      runId: 'id ***',
      parameters: { branch: '******' },
      ending: { failure: { got: '***!' } },
    })
  })

  it.each([
    'a',
    'A',
    'PASSED',
    'failed',
    'ed',
    'wait',
    'no-',
    'project',
    'i',
  ])('means the same as before, even where the key is "%s", a part of our own words', (key) => {
    for (const [name, result] of Object.entries(ENDINGS)) {
      const told = resultWithoutKey(result, keyRedaction(key))
      expect(headline(told, countsOf(told)), name).toEqual(headline(result, countsOf(result)))
      expect([told.verdict, told.ending.kind, told.run], name).toEqual([result.verdict, result.ending.kind, result.run])
    }
  })
})

it.each<Failure>([
  { kind: 'not-sent', reason: KEY },
  { kind: 'no-response', reason: KEY },
  { kind: 'untrusted-certificate', code: KEY },
  { kind: 'status', status: 500, error: untrusted(KEY) },
  { kind: 'invalid-response', expected: KEY, got: untrusted(KEY) },
])('a failure is told without the key: $kind', (failure) => {
  const told = failureWithoutKey(failure, redact)
  expect(Object.values(told)).toContain('***')
  expect(Object.values(told)).not.toContain(KEY)
  expect(told.kind).toBe(failure.kind)
})
