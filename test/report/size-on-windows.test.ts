import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sizeOnWindows } from '../../src/report/size-on-windows.ts'

it('is what the text has in bytes once each line end has become two', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '\n', 'ß', '☃', '😀') }), (text) => {
      expect(sizeOnWindows(Buffer.from(text))).toBe(Buffer.byteLength(text.replaceAll('\n', '\r\n')))
    }),
  )
})
