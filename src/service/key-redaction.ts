/** Replaces the key in a text. */
export type Redact = (text: string) => string

/** A shorter key may occur in other words, for example in a field's name. */
const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is, and in a string of JSON with any of its characters escaped, also if this JSON stands in a string of JSON.
 * It is applied to the text of each response before anything is made of it.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const parts = apiKey.match(/\\*[^\\]|\\+$/g) ?? []
  // What is found begins with all the backslashes there. Half of an escape sequence would make JSON invalid, and millions
  // of backslashes would be searched again from each of them.
  const expression = new RegExp(String.raw`(?<!\\|\\u005[cC])${parts.map(escapedOrNot).join('')}`, 'g')
  // Most texts have no backslash. For them, a step need not wait for the expression to be compiled.
  return (text) => (text.includes('\\') ? text.replace(expression, '***') : text.replaceAll(apiKey, '***'))
}

// The forms of a `/` in the key:
//
//   in a string of JSON                       /   \/   \u002f
//   also in JSON that is in a string of JSON  \\/   \\\/   \u005c/   \\u002f   \u005cu002f
//
// So each character of the key may stand behind backslashes, and may be written as `u00` with its two digits.

/** Backslashes, of which each but the first may itself be escaped. JSON in a string of JSON has up to four for one. */
const BACKSLASHES = String.raw`(?:\\+(?:u005[cC]\\*)*)`
/**
 * The same at the end of the key. An odd backslash belongs to what follows, for example to the end of a string. A key has at most 512
 * backslashes, and JSON in a string of JSON has two pairs for one. Millions of pairs would exceed the stack of the expression.
 */
const LAST_BACKSLASHES = String.raw`(?:(?:\\{1,3}u005[cC]|\\\\){1,1024}|\\)`

/** A part of the key is one character, with the backslashes before it that belong to the key. */
function escapedOrNot(part: string): string {
  const character = part.slice(-1)
  if (character === '\\') return LAST_BACKSLASHES
  // A key is ASCII, so only the last hexadecimal digit can be a letter.
  const digits = character
    .charCodeAt(0)
    .toString(16)
    .replace(/[a-f]/, (letter) => `[${letter}${letter.toUpperCase()}]`)
  return `${BACKSLASHES}${part === character ? '?' : ''}(?:u00${digits}|${character.replace(/\W/, '\\$&')})`
}
