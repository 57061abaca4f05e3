/** Replaces the key in a text. */
export type Redact = (text: string) => string

/** A shorter key may occur in other words, for example in a field's name. */
const SHORTEST_KEY_CHARS = 8

/**
 * Replaces the key, as it is or as a string of JSON may escape it. Applied to the text of each response before anything
 * is made of it. A body may have 16 MiB, so fast searches tell whether the slow ones are needed.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  // JSON must escape quotation marks and backslashes. Few services also escape other characters that a key can have.
  const anEscape = /["\\]/.test(apiKey) ? /\\/ : /\\(?:\/|u00[2-7])/
  const beginning = apiKey.slice(0, SHORTEST_KEY_CHARS)
  const replace = keyReplacement(apiKey)
  return (text) => {
    const rest = anEscape.test(text) ? replace(text, true) : text
    return rest.includes(beginning) ? replace(rest, false) : rest
  }
}

/**
 * The search of Knuth, Morris and Pratt. It never goes back in the text, so its time is linear for every text. An
 * example: the key is `ababac`, and after `ababa` comes a `b`. The `aba` at the end may be the beginning of the key, so
 * `abab` has matched now.
 */
function keyReplacement(key: string): (text: string, isJson: boolean) => string {
  const codes = Uint16Array.from(key.split(''), (character) => character.charCodeAt(0))
  /** For each beginning of the key: how much of its end is also a beginning, as `aba` of `ababa`. */
  const overlaps = new Uint16Array(codes.length)
  const matchedAfter = (matched: number, code: number): number => {
    let length = matched
    while (length > 0 && codes[length] !== code) length = overlaps[length - 1] ?? 0
    return codes[length] === code ? length + 1 : 0
  }
  for (let at = 1; at < codes.length; at++) overlaps[at] = matchedAfter(overlaps[at - 1] ?? 0, codes[at] ?? 0)

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
      begins[next] = at
      next = next + 1 === codes.length ? 0 : next + 1
      at += escaped?.length ?? 1
      matched = matchedAfter(matched, escaped?.code ?? plain)
      if (matched < codes.length) continue
      result += `${text.slice(written, begins[next])}***`
      written = at
      matched = 0
    }
    return result + text.slice(written)
  }
}

const BACKSLASH = 0x5c

/** An escape sequence of JSON. No key has a character such as that of `\n`, so its code does not matter. */
function escapeAt(text: string, at: number): { readonly code: number; readonly length: number } {
  const letter = text.charAt(at + 1)
  const digits = letter === 'u' ? text.slice(at + 2, at + 6) : ''
  if (/^[0-9A-Fa-f]{4}$/.test(digits)) return { code: Number.parseInt(digits, 16), length: 6 }
  return { code: '"\\/'.includes(letter) ? letter.charCodeAt(0) : 0, length: 2 }
}
