/** Replaces the API key by `***`. */
export type Redact = (text: string) => string

const MASK = '***'

/** A shorter key would be found within words that have nothing to do with it, field names among them. */
const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is, JSON-escaped, percent-encoded and in base64 (with or without padding, both alphabets).
 * Applied once to each response, as text, before anything is decoded, quoted, truncated or escaped.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const base64 = Buffer.from(apiKey).toString('base64').replace(/=+$/, '')
  const base64Url = base64.replaceAll('+', '-').replaceAll('/', '_')
  const forms = [
    // Two patterns, so that a backslash has one meaning in each: with both in one, many of them would take for ever.
    Array.from(apiKey, plainOrPercent).join(''),
    Array.from(apiKey, inJson).join(''),
    `${Array.from(base64, inJson).join('')}${inJson('=')}{0,2}`,
    `${Array.from(base64Url, inJson).join('')}${inJson('=')}{0,2}`,
  ]
  const pattern = new RegExp(forms.join('|'), 'g')
  return (text) => text.replace(pattern, MASK)
}

/** A character as it is, or as `%2B`. */
function plainOrPercent(character: string): string {
  return `(?:${escapeRegExp(character)}|%${hexOf(character)})`
}

/** A character as it stands in JSON, or as `\u002b`, or percent-encoded in an address there. */
function inJson(character: string): string {
  const escaped = `\\\\${escapeRegExp(character)}`
  const written = /["\\]/.test(character) ? escaped : escapeRegExp(character) + (character === '/' ? `|${escaped}` : '')
  return `(?:${written}|\\\\u00${hexOf(character)}|%${hexOf(character)})`
}

/** A pattern of the character's code in hexadecimal, in small letters or in capitals. */
function hexOf(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0')
  return Array.from(hex, (digit) => (/\d/.test(digit) ? digit : `[${digit}${digit.toUpperCase()}]`)).join('')
}

function escapeRegExp(text: string): string {
  return text.replace(/\W/g, '\\$&')
}
