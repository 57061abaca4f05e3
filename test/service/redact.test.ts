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

/** What SECURITY.md promises. */
const FORMS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'in JSON': (key) => JSON.stringify(key).slice(1, -1),
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
    const redact = keyRedaction('a.b"c/d=')
    expect(redact('a.b"c/d= axb"c/d= a.b\\"c/d=a.b"c/d=')).toBe('*** axb"c/d= ******')
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
})
