import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keyRedaction } from '../../src/service/open-service.ts'

/** Keys as services make them, and as hostile as ASCII allows. */
const key = fc.oneof(fc.stringMatching(/^[!-~]{8,80}$/), fc.stringMatching(/^["\\/%+u0-9a-f]{8,20}$/))
const around = fc.string({ unit: 'grapheme' })

// What SECURITY.md promises.
it.each([
  ['as it is', (key: string) => key],
  ['in JSON', (key: string) => JSON.stringify(key).slice(1, -1)],
])('the key is redacted %s, whatever stands around it', (_, form) => {
  fc.assert(
    fc.property(key, around, around, (key, before, after) => {
      const written = form(key)
      fc.pre(!`${before}${after}***`.includes(written))
      const redacted = keyRedaction(key)(`${before} ${written} ${after}`)
      expect(redacted).toContain('***')
      expect(redacted).not.toContain(written)
    }),
    { numRuns: 300 },
  )
})

it('the key is redacted each time it occurs, and nothing else is', () => {
  const redact = keyRedaction('a.b"c/d=')
  expect(redact('a.b"c/d= axb"c/d= a.b\\"c/d=a.b"c/d=')).toBe('*** axb"c/d= ******')
})

it('a key is not looked for if it is so short that other words contain it', () => {
  expect(keyRedaction('status')('{"status":"PASSED"}')).toBe('{"status":"PASSED"}')
  expect(keyRedaction('')('text')).toBe('text')
})
