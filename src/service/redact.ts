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
  const forms = [Array.from(apiKey, anyFormOf).join(''), `${escapeRegExp(base64)}={0,2}`, `${base64Url}={0,2}`]
  const pattern = new RegExp([...new Set(forms)].join('|'), 'g')
  return (text) => text.replace(pattern, MASK)
}

/** One character of the key as it is, as `%2B`, as `\u002b`, and with the backslash that JSON may put before it. */
function anyFormOf(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0')
  const digits = Array.from(hex, (digit) => (/\d/.test(digit) ? digit : `[${digit}${digit.toUpperCase()}]`)).join('')
  const escaped = /["\\/]/.test(character) ? `|\\\\${escapeRegExp(character)}` : ''
  return `(?:${escapeRegExp(character)}|%${digits}|\\\\u00${digits}${escaped})`
}

function escapeRegExp(text: string): string {
  return text.replace(/\W/g, '\\$&')
}
