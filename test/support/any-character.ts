import fc from 'fast-check'

/** Any code point, for `fc.string({ unit: ANY_CHARACTER })`. fast-check's unit `binary` takes a second to prepare. */
export const ANY_CHARACTER = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))
