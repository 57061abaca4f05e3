/** Replaces the key in a text. */
export type Redact = (text: string) => string

/** A shorter key may occur in other words, for example in a field's name. */
const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is, and in a string of JSON with any of its characters escaped. Applied to the text of each response
 * before anything is made of it.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const characters = [...apiKey]
  // The form of JSON comes first. Otherwise, a key that ends with a backslash would leave half of an escape sequence.
  const key = new RegExp(`${characters.map(inJson).join('')}|${characters.map(asItIs).join('')}`, 'g')
  return (text) => text.replaceAll(key, '***')
}

function asItIs(character: string): string {
  return `\\u${hexOf(character)}`
}

/** No two of these forms begin alike, so the search never has to try a character again. */
function inJson(character: string): string {
  const digits = hexOf(character).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const escaped = `\\\\u${digits}`
  // JSON must escape these two. It may escape a slash.
  if (character === '"' || character === '\\') return `(?:\\\\${asItIs(character)}|${escaped})`
  return `(?:${asItIs(character)}|${character === '/' ? '\\\\/|' : ''}${escaped})`
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0')
}
