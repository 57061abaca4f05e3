import { rawText, type Untrusted, untrusted } from './untrusted.ts'

// Text that people can see, but that is not escaped yet. The expressions below also get strings of millions of characters, so
// none of them has a repeated group, which could overflow the engine's stack.

// Controls, bidi and zero-width characters, line separators, lone surrogates, and what Unicode reserves. The two
// variation selectors that choose between text and emoji stay.
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\p{NChar}]--[\uFE0E\uFE0F]]/gv
/**
 * Ranges without an invisible character: most letters. A search for characters outside these ranges is fast. So `replaceInvisible` finds those
 * first, and applies the slow INVISIBLE only to them.
 */
const SURELY_VISIBLE = String.raw` -~\u00A1-\u00AC\u00AE-\u034E\u0370-\u05FF\u0900-\u10FF\u2010-\u2027\u2030-\u205E\u2070-\u3130\u3165-\uD7FF`
const PERHAPS_INVISIBLE = new RegExp(`[^${SURELY_VISIBLE}]+`, 'g')
/** Whole sequences for a terminal: colours, cursor movements, titles and links (CSI, OSC), and shorter ones. Each is in one line. */
const TERMINAL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B\n]*(?:\u0007|\u001B\\)|\u001B(?:[ -/]+[0-~]|[0-Z\\^-~])/g

function replaceInvisible(text: string, replacementOf: (invisible: string) => string): string {
  return text.replace(PERHAPS_INVISIBLE, (part) => part.replace(INVISIBLE, replacementOf))
}

/** The limit of every text from outside, except of a message and of the service's own error sentence. */
export const TEXT_LIMIT_CHARS = 500

/** At most `limitChars` Unicode characters, each of one or two UTF-16 units. An ellipsis replaces what was removed. */
export function truncate(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const characters = [...text.slice(0, 2 * (limitChars + 1))]
  return characters.length <= limitChars ? text : `${characters.slice(0, limitChars - 1).join('')}…`
}

/** For example without colours. The time is linear in the length of the text, unlike that of Node's own function. */
export function withoutTerminalSequences(text: string): string {
  return text.replace(TERMINAL_SEQUENCE, '')
}

/**
 * Text on one line, in visible characters. Truncates first, because the text may be very long. A space replaces what is
 * invisible, so that words stay apart.
 */
export function oneLine<Text extends string | Untrusted>(value: Text, limitChars = Number.POSITIVE_INFINITY): Text {
  const text = truncate(rawText(value), limitChars)
  // Most texts end here. With the rest of this function, they would take several times as long.
  if (text.search(PERHAPS_INVISIBLE) === -1) return text.trim() as Text
  // All that is invisible becomes NUL first, because several of them in a row become one space. INVISIBLE with a `+` would find them in
  // one step, but it would overflow the engine's stack.
  const marked = replaceInvisible(text.replace(TERMINAL_SEQUENCE, '\0'), () => '\0')
  return marked.replace(/\0+/g, ' ').trim() as Text
}

export function visibleLines(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r]/).map(withVisibleCharacters)
}

/** Tabs and line feeds stay. */
function withVisibleCharacters(text: string): string {
  return replaceInvisible(withoutTerminalSequences(text), (found) => ('\t\n'.includes(found) ? found : ' '))
}

const STYLE = String.raw`\u001B\[[\d;:]*m`
const STYLES = new RegExp(`(${STYLE})`, 'g')
const FROM_FIRST_STYLE = new RegExp(`${STYLE}.*`, 'g')
const RESET = '\u001B[0m'

/** Styles stay. Each line with a style gets a reset at its end, so that no colour goes on in the next line of the log. */
export function colouredLines(text: string): string {
  if (!text.includes('\u001B')) return withVisibleCharacters(text)
  // `split` with a group keeps the styles, as every second part.
  const parts = text.split(STYLES)
  const visible = parts.map((part, index) => (index % 2 === 0 ? withVisibleCharacters(part) : part)).join('')
  return visible.replace(FROM_FIRST_STYLE, `$&${RESET}`)
}

export function isVisible(text: string): boolean {
  // Not `test`, because it begins where the last search with this global expression ended.
  return text.search(INVISIBLE) === -1
}

/** The first line of a message that is not blank. Empty if there is none. A line over 10,000 characters counts as several. */
export function firstLineOf(message: Untrusted): Untrusted {
  // Not `split`, because a hostile message may have millions of lines.
  for (const [line] of rawText(message).matchAll(/[^\n\r]{1,10000}/g)) {
    const visible = withVisibleCharacters(line).trim()
    if (visible !== '') return untrusted(visible)
  }
  return untrusted('')
}

/** In JSON, an escape sequence replaces what is invisible. So nothing is lost. */
export function withVisibleEscapes(json: string): string {
  // JSON has these line ends and tabs only between its parts, and not in its strings.
  return replaceInvisible(json, (found) => ('\t\n\r'.includes(found) ? found : escapeSequence(found)))
}

function escapeSequence(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return `\\u${units.join('\\u')}`
}
