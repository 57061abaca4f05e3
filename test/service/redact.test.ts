import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyRedaction } from '../../src/service/redact.ts'

/** Keys as services make them, and as hostile as ASCII allows. */
const key = fc.oneof(
  fc.string({ minLength: 8, maxLength: 80 }).filter((text) => /^[!-~]*$/.test(text)),
  fc.stringMatching(/^[!-~]{8,40}$/),
  fc.stringMatching(/^["\\/%+u0-9a-f]{8,20}$/),
)
const around = fc.string({ unit: 'grapheme' })

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const percentOf = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** What SECURITY.md promises, each way in which somebody might write it. */
const FORMS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'in JSON': (key) => JSON.stringify(key).slice(1, -1),
  'in JSON with escaped slashes': (key) => JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/'),
  'in JSON with every character escaped': (key) => Array.from(key, escapeOf).join(''),
  'in JSON with escapes in capital letters': (key) =>
    Array.from(key, (character) => escapeOf(character).toUpperCase().replace('U', 'u')).join(''),
  'in JSON that escapes what HTML knows': (key) =>
    JSON.stringify(key)
      .slice(1, -1)
      .replace(/[<>&'+]/g, escapeOf),
  'in an address': encodeURIComponent,
  'in an address, in small letters': (key) => encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
  'in an address that encodes everything': (key) => Array.from(key, percentOf).join(''),
  'in an address within JSON': (key) => JSON.stringify(key.replace(/["<>]/g, percentOf)).slice(1, -1),
  'in base64': (key) => Buffer.from(key).toString('base64'),
  'in base64 without padding': (key) => Buffer.from(key).toString('base64').replace(/=+$/, ''),
  'in base64 for addresses': (key) => Buffer.from(key).toString('base64url'),
}

describe('the key', () => {
  it.each(Object.entries(FORMS))('is redacted %s, whatever stands around it', (_, form) => {
    fc.assert(
      fc.property(key, around, around, (key, before, after) => {
        const written = form(key)
        fc.pre(!`${before}${after}`.includes(written))
        const redacted = keyRedaction(key)(`${before} ${written} ${after}`)
        expect(redacted).toContain('***')
        fc.pre(!'***'.includes(written))
        expect(redacted).not.toContain(written)
      }),
      { numRuns: 300 },
    )
  })

  it('is redacted each time it occurs, and nothing else is', () => {
    const redact = keyRedaction('a.b+c/d=')
    expect(redact('a.b+c/d= axb+c/d= a.b%2Bc%2fd%3D\\u0061.b+c\\/d=')).toBe('*** axb+c/d= ******')
  })

  it('takes the padding of its base64 with it', () => {
    for (const key of ['12345678', '123456789', '1234567890']) {
      expect(keyRedaction(key)(Buffer.from(key).toString('base64'))).toBe('***')
    }
  })

  it('leaves any other text as it is', () => {
    fc.assert(
      fc.property(key, around, (key, text) => {
        fc.pre(Object.values(FORMS).every((form) => !text.includes(form(key).slice(0, 4))))
        expect(keyRedaction(key)(text)).toBe(text)
      }),
    )
  })

  it('is not looked for if it is so short that other words contain it', () => {
    expect(keyRedaction('status')('{"status":"PASSED"}')).toBe('{"status":"PASSED"}')
    expect(keyRedaction('')('text')).toBe('text')
  })

  it.each([
    '\\',
    '\\"',
    '\\u005c',
    '%5',
    '%5c',
    '/',
    '"',
    'a',
    '=',
  ])('of many %j takes linear time to find', (piece) => {
    const key = `${piece.repeat(25)}!`
    const text = `${piece.repeat(100_000)}?`
    expect(keyRedaction(key)(text)).toBe(text)
    expect(keyRedaction(key)(text + key)).toContain('***')
  })
})
