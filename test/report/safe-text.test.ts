import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { untrusted } from '../../src/outcome/untrusted.ts'
import {
  cellHtml,
  fragment,
  hiddenMarker,
  html,
  json,
  type LogLine,
  link,
  logLine,
  quote,
  render,
  untruncatedHtml,
  xml,
} from '../../src/report/safe-text.ts'

describe('what reaches an output', () => {
  it('was made inert, as far as the type checker can see', () => {
    // @ts-expect-error raw text is no log line
    const raw: LogLine = 'text'
    // @ts-expect-error nor is what merely looks like one
    const forged: LogLine = { place: 'log line', text: 'text' }
    // @ts-expect-error HTML is no log line
    const markup: LogLine = html`<p>`
    // @ts-expect-error somebody else's text cannot be written out
    expect([raw, forged, markup, render(untrusted('text'))]).toHaveLength(4)
  })
})

describe('a log line', () => {
  it('keeps harmless text as it is', () => {
    expect(render(logLine`Run ${'run_1'}: ${untrusted('RUNNING')} after ${3} polls`)).toBe(
      'Run run_1: RUNNING after 3 polls',
    )
  })

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
  ])('makes %s harmless', (_, text, expected) => {
    expect(render(logLine`${text}`)).toBe(expected)
  })

  it('has no command in it that only its values together make', () => {
    expect(render(logLine`${'#'}${'#['}group]`)).toBe('# #[group]')
    expect(render(logLine`${':'}${':error::boo'}`)).toBe(': :error::boo')
  })

  it('stays short enough for GitHub, in each value and in all', () => {
    const long = 'x'.repeat(2000)
    expect(render(logLine`${long}`)).toBe(`${'x'.repeat(999)}…`)
    expect(render(logLine`${long}${long}${long}${long}${long}`)).toHaveLength(4000)
    expect(render(logLine`${logLine`${long}${long}${long}`}${logLine`${long}${long}`}`)).toHaveLength(4000)
  })

  it('takes a sentence that was made for no place, and quotes in it', () => {
    const sentence = fragment`got ${quote(untrusted('a\nb'), 10)} in ${12345} ms`
    expect(render(logLine`It ${sentence}.`)).toBe('It got “a b” in 12,345 ms.')
  })

  it('treats what was made for another place as text', () => {
    const elsewhere = html`<b>` as unknown as LogLine
    expect(render(logLine`a${elsewhere}`)).toBe('a<b>')
    expect(render(html`<p>${logLine`<b>` as unknown as string}</p>`)).toBe('<p><code>&lt;b&gt;</code></p>')
  })
})

describe('HTML', () => {
  it('puts every value in <code>, whoever wrote it, and numbers beside it', () => {
    expect(render(html`<p>${untrusted('@octocat')} ${'<b>&"\''} ${1234567}</p>`)).toBe(
      '<p><code>@octocat</code> <code>&lt;b&gt;&amp;&quot;&#39;</code> 1,234,567</p>',
    )
  })

  it('has no line break in a value', () => {
    expect(render(html`<p>${'a\n\n# b'}</p>`)).toBe('<p><code>a # b</code></p>')
  })

  it('lets a long word break in a cell, and nowhere else', () => {
    expect(render(cellHtml`<td>${'src/cart/PaymentForm.spec.ts of internationalization'}</td>`)).toBe(
      '<td><code>src/<wbr>cart/<wbr>Payment<wbr>Form.<wbr>spec.<wbr>ts of internationalization</code></td>',
    )
    expect(render(html`<p>${'src/cart/PaymentForm.spec.ts'}</p>`)).not.toContain('<wbr>')
  })

  it('cuts a value, but not where the whole is wanted', () => {
    const long = 'word '.repeat(100).trim()
    expect(render(html`<p>${long}</p>`)).toHaveLength('<p><code></code></p>'.length + 300)
    expect(render(untruncatedHtml`<p>${long}</p>`)).toBe(`<p><code>${long}</code></p>`)
  })

  it('takes pieces of HTML as they are, and lists of them', () => {
    expect(render(html`<p>${html`<b>x</b>`}${[html`1`, fragment`2 ${'<'}`]}</p>`)).toBe(
      '<p><b>x</b>12 <code>&lt;</code></p>',
    )
  })

  it('links to addresses of the web alone', () => {
    expect(render(link('https://github.com/a?b="&c', fragment`Job`))).toBe(
      '<a href="https://github.com/a?b=&quot;&amp;c">Job</a>',
    )
    expect(render(link('javascript:alert(1)', fragment`Job`))).toBe('Job')
  })

  it('hides a marker, which can be nothing but one HTML comment', () => {
    expect(render(hiddenMarker('<!-- ours 1 -->'))).toBe('<!-- ours 1 -->')
    expect(() => hiddenMarker('<!-- a --><b> -->')).toThrow(TypeError)
    expect(() => hiddenMarker('<!-- a\n-->')).toThrow(TypeError)
    expect(() => hiddenMarker('text')).toThrow(TypeError)
  })
})

describe('XML', () => {
  it('escapes values for text and attributes, and leaves out what XML 1.0 forbids', () => {
    expect(render(xml`<a b="${'<"\'&>]]>\u0000\ufffe\ud800c'}" n="${12345}">${untrusted('##[x]')}</a>`)).toBe(
      '<a b="&lt;&quot;&#39;&amp;&gt;]]&gt; c" n="12345">##&#91;x]</a>',
    )
  })

  it('is read by people where a sentence stands in it', () => {
    expect(render(xml`<a>${fragment`${12345} of ${quote('x<y', 9)}`}</a>`)).toBe('<a>12,345 of “x&lt;y”</a>')
  })
})

describe('JSON', () => {
  it('reads back as what it was, in visible characters alone', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({
          stringUnit: fc.constantFrom(
            'a',
            '"',
            '\\',
            '#',
            '[',
            '\u009b',
            '\u2028',
            '\ud800',
            '\u{e0041}',
            '❤',
            '\ufe0f',
          ),
        }),
        (value) => {
          const text = render(json(value))
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
          expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|##\[/u)
        },
      ),
    )
  })

  it('is null where there is nothing', () => {
    expect(render(json(undefined))).toBe('null')
  })
})
