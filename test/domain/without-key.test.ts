import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/domain/errors.ts'
import { untrusted } from '../../src/domain/untrusted.ts'
import { failureWithoutKey, keyRedaction, runWithoutKey } from '../../src/domain/without-key.ts'
import { aRun, aTestCase } from '../support/builders.ts'
import { apiKey } from '../support/hostile-text.ts'

const KEY = 'sk_live_"<&\\$1'
const redact = keyRedaction(KEY)

describe('the key', () => {
  it('is masked literally, however short it is, and not at all where there is none', () => {
    expect(keyRedaction('a.b')('a.b axb')).toBe('*** axb')
    expect(keyRedaction('k')('ok')).toBe('o***')
    expect(keyRedaction('')('text')).toBe('text')
  })

  const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
    'in base64': (text) => Buffer.from(text).toString('base64'),
    'in base64 for addresses': (text) => Buffer.from(text).toString('base64url'),
    'in an address': encodeURIComponent,
    'in an address with small letters': (text) =>
      encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
    'in JSON': JSON.stringify,
    'in HTML': (text) => escaped(text, '&#39;'),
    'in XML': (text) => escaped(text, '&apos;'),
  }

  it.each(Object.entries(ENCODINGS))('is masked %s, whatever stands around it', (_, encode) => {
    fc.assert(
      fc.property(apiKey(), fc.string(), fc.string(), (key, before, after) => {
        fc.pre(!before.includes(key) && !after.includes(key) && encode(key).length > 12)
        const text = encode(`${before}${key}${after}`)
        expect(keyRedaction(key)(`x ${text} y`)).toContain('***')
      }),
    )
  })

  it('is not looked for in pieces so short that they could be anything', () => {
    const short = keyRedaction('abc')
    expect(short(Buffer.from('abc').toString('base64'))).toBe('YWJj')
    expect(short('abc')).toBe('***')
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
    expect(told).toMatchObject({ status: 'UNKNOWN', statusText: '***', branchName: '***' })
    expect(told.testCases).toMatchObject([
      { title: 'a *** b', outcome: 'failed' },
      { title: 'c', status: '***' },
    ])
    expect(told.asSent).toBe(run.asSent)
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

it.each<Failure>([
  { kind: 'not-sent', reason: KEY },
  { kind: 'no-answer', reason: KEY },
  { kind: 'untrusted-certificate', code: KEY },
  { kind: 'status', status: 500, error: untrusted(KEY) },
  { kind: 'broken-answer', expected: KEY, got: untrusted(KEY) },
])('a failure is told without the key: $kind', (failure) => {
  const told = failureWithoutKey(failure, redact)
  expect(Object.values(told)).toContain('***')
  expect(Object.values(told)).not.toContain(KEY)
  expect(told.kind).toBe(failure.kind)
})

function escaped(text: string, apostrophe: string): string {
  const markup: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"']/g, (character) => markup[character] ?? apostrophe)
}
