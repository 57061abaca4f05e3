import type { Redact } from './transport.ts'

/** A shorter key may occur in other words, for example in a field's name. */
const SHORTEST_KEY_CHARS = 8

/**
 * Replaces the key, as it is or as a string of JSON may escape it. Applied to the text of each response before anything
 * is made of it. A body may have 16 MiB, so a fast search for the beginning of the key comes first.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const beginning = apiKey.slice(0, SHORTEST_KEY_CHARS)
  const beginningInJson = new RegExp(beginning.split('').map(formsInJson).join(''))
  const replace = keyReplacement(apiKey)
  return (text) => {
    const rest = text.includes('\\') && beginningInJson.test(text) ? replace(text, true) : text
    return rest.includes(beginning) ? replace(rest, false) : rest
  }
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** A regular expression for all forms of a character in a string of JSON. No form is the beginning of another form. */
function formsInJson(character: string): string {
  const digits = codeOf(character).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const escapedForExpression = (letter: string) => `\\u${codeOf(letter)}`
  const letters = [...SHORT_ESCAPES]
    .filter(([, meant]) => meant === character)
    .map(([letter]) => escapedForExpression(letter))
  const plain = character === '\\' ? [] : [escapedForExpression(character)]
  return `(?:${[...plain, ...[`u${digits}`, ...letters].map((end) => `\\\\${end}`)].join('|')})`
}

function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0')
}

/** The character that an escape sequence of JSON stands for, and the length of the sequence. */
function escapeAt(text: string, at: number): { readonly code: number; readonly length: number } | undefined {
  const letter = text.charAt(at + 1)
  const digits = letter === 'u' ? text.slice(at + 2, at + 6) : ''
  if (/^[0-9A-Fa-f]{4}$/.test(digits)) return { code: Number.parseInt(digits, 16), length: 6 }
  const meant = SHORT_ESCAPES.get(letter)
  return meant === undefined ? undefined : { code: meant.charCodeAt(0), length: 2 }
}

const BACKSLASH = 0x5c

/** The search of Knuth, Morris and Pratt. It never goes back in the text, so its time is linear for every text. */
function keyReplacement(key: string): (text: string, isJson: boolean) => string {
  const codes = Uint16Array.from(key.split(''), (character) => character.charCodeAt(0))
  const borders = bordersOf(codes)
  return (text, isJson) => {
    /** Where the latest characters begin in the text: a ring with one entry for each character of the key. */
    const begins = new Uint32Array(codes.length)
    let next = 0
    let matched = 0
    let written = 0
    let result = ''
    for (let at = 0; at < text.length; ) {
      const plain = text.charCodeAt(at)
      const escaped = isJson && plain === BACKSLASH ? escapeAt(text, at) : undefined
      const code = escaped?.code ?? plain
      begins[next] = at
      next = next + 1 === codes.length ? 0 : next + 1
      at += escaped?.length ?? 1
      while (matched > 0 && codes[matched] !== code) matched = borders[matched - 1] ?? 0
      if (codes[matched] === code) matched++
      if (matched < codes.length) continue
      result += `${text.slice(written, begins[next])}***`
      written = at
      matched = 0
    }
    return result + text.slice(written)
  }
}

/** For each prefix of the key: the length of its longest shorter prefix that is also its suffix. */
function bordersOf(codes: Uint16Array): Uint16Array {
  const borders = new Uint16Array(codes.length)
  for (let end = 1, length = 0; end < codes.length; end++) {
    while (length > 0 && codes[length] !== codes[end]) length = borders[length - 1] ?? 0
    if (codes[length] === codes[end]) length++
    borders[end] = length
  }
  return borders
}
