import fc from 'fast-check'

/** Any code point, for `fc.string({ unit: ANY_CHARACTER })`. fast-check's unit `binary` takes a second to prepare. */
export const ANY_CHARACTER = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))

/** Texts with a meaning for the runner, Markdown, GitHub, a browser, XML or a terminal. */
const PIECES = [
  ...['::error::boo', '::set-output name=x::y', '  ::add-mask::a', '##[group]', '###[', '#', '[', ':'],
  ...['<script>alert(1)</script>', '</code>', '</td></tr></table>', '</details>', '<!-- ', ' -->', '"><b>'],
  ...['<img src=//evil.example/x.png>', '![x](https://evil.example/x.png)', '<a href="//evil.example">'],
  ...['[x](javascript:alert(1))', "' onclick='x", '@octocat', '@org/team', '#1', 'owner/repo#2', 'GH-3'],
  ...['https://evil.example', 'www.evil.example', 'a@evil.example', ':tada:', '$x^2$', '{"a":1}', '\\u0000'],
  ...['`', '```', '|', '\\', '*bold*', '_i_', '~~s~~', '- [ ] x', '# h', '> q', '"', '&', '%0A', '$(id)'],
  ...['&lt;', '&#60;', '&amp;amp;', ']]>', '<![CDATA[', '<?xml ?>', '<!DOCTYPE x>', '&xxe;'],
  ...['\n', '\r', '\r\n', '\n\n', '\n::error::boo', '\r##[error]boo', '\t', '\v', '\f', ' ', '   '],
  ...['\u001b[31m', '\u001b[2J', '\u001b]0;t\u0007', '\u001b]8;;https://evil.example\u001b\\', '\u009b31m'],
  ...['😀', '👩‍💻', 'é', '測試', 'עברית', 'src/components/PaymentForm.spec.ts', ' › ', 'pays by card', 'FAILED', '***'],
  // Invisible characters, halves of pairs, and what Unicode reserves.
  ...[
    0x00, 0x07, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x200d, 0x200e, 0x2028, 0x2029,
    0x202e, 0x2066, 0x2069, 0x3164, 0xd800, 0xd83d, 0xdfff, 0xfe0f, 0xfeff, 0xfff9, 0xfffe, 0xffff, 0xe0041, 0x1fffe,
    0x10ffff,
  ].map((code) => String.fromCodePoint(code)),
]

const HUGE = [
  'x'.repeat(20_000),
  '<'.repeat(5_000),
  '😀'.repeat(3_000),
  '\u001b['.repeat(2_000),
  '@a '.repeat(2_000),
  '\n'.repeat(2_000),
]

export function hostileText(): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 1, arbitrary: fc.string({ unit: ANY_CHARACTER, maxLength: 8 }) },
  )
  return fc.oneof(
    { weight: 100, arbitrary: fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')) },
    { weight: 1, arbitrary: fc.constantFrom(...HUGE) },
  )
}
