import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  commandMessage,
  type Fragment,
  fragment,
  hiddenMarker,
  html,
  linesOf,
  link,
  quote,
  render,
  safeJson,
  untruncated,
  xml,
} from '../../src/text/safe-text.ts'
import { messageOf, untrusted } from '../../src/text/untrusted.ts'
import { oneLine } from '../../src/text/visible-text.ts'
import { secretForms } from '../../tools/runner-emulator/step-runner/masks.ts'
import { ANY_CHARACTER } from '../support/hostile-text.ts'

it('text that is written must be safe for the type checker', () => {
  // @ts-expect-error a string is no fragment
  const raw: Fragment = 'text'
  // @ts-expect-error an object that looks like a fragment is no fragment
  const forged: Fragment = { write: () => 'text' }
  // @ts-expect-error HTML is no fragment
  const markup: Fragment = html`<p>`
  // @ts-expect-error text of others cannot be written
  expect([raw, forged, markup, render(untrusted('text'))]).toHaveLength(4)
})

it('the message of what was thrown is that of an error, or the text of anything else', () => {
  expect([new TypeError('no such file'), undefined].map(messageOf)).toEqual(['no such file', 'undefined'])
})

describe('a log line', () => {
  it.each([
    ['a workflow command at its start', '::error::boo', ': :error::boo'],
    ['a workflow command behind blanks', ' \u00a0\t::error::boo', ': :error::boo'],
    ['a command of the older form', 'a ##[group]b', 'a # #[group]b'],
    ['a command of the older form behind more of its signs', '###[group]', '## #[group]'],
    ['line ends of every kind', 'a\nb\rc\r\nd\u2028e\u2029f\u0085g', 'a b c d e f g'],
    ['colours, titles and links of a terminal', 'a\u001b[31mb\u001b]0;t\u0007c\u009b1md', 'a b c d'],
    ['an escape that leads nowhere', 'a\u001b]never ended', 'a ]never ended'],
    ['characters that change the direction of reading', 'a\u202eb\u2066c', 'a b c'],
    ['characters of no width', 'a\u200bb\u00adc\ufeffd', 'a b c d'],
    ['halves of a pair', 'a\ud800b\udc00c', 'a b c'],
    ['the variation selector of an emoji, which stays', '❤\ufe0f', '❤\ufe0f'],
  ])('makes %s safe', (_, text, expected) => {
    expect(render(fragment`${text}`)).toBe(expected)
  })

  it('contains no command that several values make together', () => {
    expect(render(fragment`${'#'}${'#['}group]`)).toBe('# #[group]')
    expect(render(fragment`${':'}${':error::boo'}`)).toBe(': :error::boo')
  })

  it('is short in each value, and as the message of a command short enough for GitHub', () => {
    const long = 'x'.repeat(2000)
    expect(render(fragment`${long}`)).toBe(`${'x'.repeat(499)}…`)
    const longer = fragment`${long}${long}${long}${long}${long}`
    expect(commandMessage(longer)).toHaveLength(2500)
    expect(commandMessage(fragment`${longer}${longer}`)).toHaveLength(4000)
  })

  it('keeps the lines and the indentation of a message, without commands and colours', () => {
    const message = untrusted(
      '\n \nAssertionError: \u001b[31m41\u001b[39m is not 42\r\n\tat pay\r  ::error::boo\n##[group]\n\n',
    )
    expect(render(fragment`why\n${linesOf(message)}`)).toBe(
      'why\n\n \nAssertionError: 41 is not 42\n\tat pay\n  : :error::boo\n# #[group]\n\n',
    )
  })

  it('accepts a fragment, and quotes its values', () => {
    const sentence = fragment`got ${quote(untrusted('a\nb'), 10)} in ${12345} ms`
    expect(render(fragment`It ${sentence}.`)).toBe('It got “a b” in 12,345 ms.')
  })

  it('has the address of a link after its words', () => {
    const url = 'https://example.com/a b'
    expect(render(fragment`Run ${link(url, fragment`${'r1'}`)}.`)).toBe('Run r1 (https://example.com/a%20b).')
  })
})

describe('HTML', () => {
  it('writes every value in <code>, except numbers', () => {
    expect(render(html`<p>${untrusted('@octocat')} ${'<b>&'} ${1234567}</p>`)).toBe(
      '<p><code>@octocat</code> <code>&lt;b&gt;&amp;</code> 1,234,567</p>',
    )
  })

  it('has a secret in a form that the runner masks, whatever text is around it', () => {
    const unit = fc.constantFrom(...'ab1.-_/+=', ...'<>&"\'')
    const text = (minLength: number) => fc.string({ unit, minLength, maxLength: 20 })
    fc.assert(
      fc.property(text(0), text(8), text(0), (before, secret, after) => {
        const forms = secretForms(secret)
        const page = render(html`<p>${`${before}${secret}${after}`}</p>`)
        expect(forms.some((form) => page.includes(form))).toBe(true)
      }),
    )
  })

  it('truncates a value, unless the whole value is wanted', () => {
    const long = 'word '.repeat(200).trim()
    expect(render(html`<p>${long}</p>`)).toHaveLength('<p><code></code></p>'.length + 500)
    expect(render(html`<p>${untruncated(long)}</p>`)).toBe(`<p><code>${long}</code></p>`)
  })

  it('accepts HTML and lists of HTML unchanged', () => {
    expect(render(html`<p>${html`<b>x</b>`}${[html`1`, html`2 ${'<'}`]}</p>`)).toBe(
      '<p><b>x</b>12 <code>&lt;</code></p>',
    )
  })

  it('accepts a fragment or a log line, with its words as text and its values as code', () => {
    const words = fragment`a < ${'<b>'} && ${quote('c', 9)}`
    expect(render(html`<p>${words}</p>`)).toBe('<p>a &lt; <code>&lt;b&gt;</code> &amp;&amp; <code>c</code></p>')
    expect(render(html`<li>${fragment`Input ${'wait'}: ${words}.`}</li>`)).toBe(
      '<li>Input <code>wait</code>: a &lt; <code>&lt;b&gt;</code> &amp;&amp; <code>c</code>.</li>',
    )
  })

  it('links to https addresses, and to http addresses of this machine', () => {
    const linked = (url: string) => render(html`<p>${link(url, fragment`Job ${'<1>'}`)}</p>`)
    const words = 'Job <code>&lt;1&gt;</code>'
    expect(linked('https://github.com/a?b="&c')).toBe(`<p><a href="https://github.com/a?b=%22&amp;c">${words}</a></p>`)
    expect(linked('https://github.com/#"##[x')).toBe(`<p><a href="https://github.com/#%22##&#91;x">${words}</a></p>`)
    expect(linked('http://127.0.0.1:8080/a')).toContain('<a href="http://127.0.0.1:8080/a">')
    expect(linked('http://[::1]/a')).toContain('<a href="http://[::1]/a">')
    for (const url of ['javascript:alert(1)', 'http://example.com', 'http://localhost.example', '//a', 'ftp://a', '']) {
      expect(linked(url)).toBe(`<p>${words}</p>`)
    }
  })

  it('hides a marker, which is always exactly one HTML comment', () => {
    expect(render(hiddenMarker('<!-- ours 1 -->'))).toBe('<!-- ours 1 -->')
    expect(() => hiddenMarker('<!-- a --><b> -->')).toThrow(TypeError)
    expect(() => hiddenMarker('<!-- a\n-->')).toThrow(TypeError)
    expect(() => hiddenMarker('text')).toThrow(TypeError)
  })
})

describe('XML', () => {
  it('escapes values for text and attributes, and leaves out what XML 1.0 forbids', () => {
    expect(render(xml`<a b="${'<"\'&>]]>\u0000\ufffe\ud800c'}" n="${12345}">${untrusted('##[x]')}</a>`)).toBe(
      '<a b="&lt;&quot;&apos;&amp;&gt;]]&gt; c" n="12345">##&#91;x]</a>',
    )
  })

  it('accepts fragments, log lines and links', () => {
    const sentence = fragment`1 < ${12345} of ${quote('x<y', 9)} (${link('https://a.example/?&', fragment`page`)})`
    const expected = '<a>1 &lt; 12345 of “x&lt;y” (page (https://a.example/?&amp;))</a>'
    expect(render(xml`<a>${sentence}</a>`)).toBe(expected)
    expect(render(xml`<a>${fragment`${sentence}`}</a>`)).toBe(expected)
  })
})

describe('JSON', () => {
  it('of others keeps the line ends and tabs between its parts', () => {
    const sent = '{\r\n\t"a": 1.0,\n\t"b": "\u200b##[x]"\n}\n'
    const safe = safeJson(untrusted(sent))
    expect(safe).toBe('{\r\n\t"a": 1.0,\n\t"b": "\\u200b##\\u005bx]"\n}\n')
    expect(JSON.parse(safe)).toEqual(JSON.parse(sent))
  })

  it('contains only visible characters, and parses to the original value', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({
          stringUnit: fc.constantFrom(...'a"\\#[', '\u009b', '\u2028', '\ud800', '\u{e0041}', '❤', '\ufe0f'),
        }),
        (value) => {
          const text = safeJson(JSON.stringify(value))
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
          expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|##\[/u)
        },
      ),
    )
  })
})

describe('sanitized text', () => {
  const text = oneLine

  it('is truncated, but never within a character', () => {
    expect(text('abcd', 4)).toBe('abcd')
    expect(text('abcde', 4)).toBe('abc…')
    expect(text('ab😀c', 4)).toBe('ab😀c')
    expect(text('ab😀cd', 4)).toBe('ab😀…')
    const any = fc.string({ unit: ANY_CHARACTER, maxLength: 20 })
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 20 }), (value, limitChars) => {
        expect([...text(value, limitChars)].length).toBeLessThanOrEqual(limitChars)
        expect(text(value, limitChars).isWellFormed()).toBe(true)
      }),
    )
  })

  it('contains no invisible character', () => {
    const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{NChar}]|(?![\ufe0e\ufe0f])\p{DI}/u
    for (let first = 0; first <= 0x10ffff; first += 0x80) {
      const characters = Array.from({ length: 0x80 }, (_, index) => String.fromCodePoint(first + index))
      if (invisible.test(text(characters.join('a')))) expect.fail(first.toString(16))
    }
    expect(text('checkout › pays “by card” – für 5 € · 測試')).toBe('checkout › pays “by card” – für 5 € · 測試')
  })

  // Each of these texts can overflow the stack of the regular expression engine.
  it.each([
    ['characters of no width', '\u200b'.repeat(2_400_000)],
    ['line ends', '\n'.repeat(4_250_000)],
    ['characters behind the start of a terminal’s title', `\u001b]${'x'.repeat(5_600_000)}`],
    ['astral characters behind it', `\u001b]${'😀'.repeat(2_800_000)}`],
  ])('may consist of millions of %s', (_, value) => {
    expect(text(value).length).toBeLessThanOrEqual(value.length)
  })
})
