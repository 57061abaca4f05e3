/** Replaces the key in a text. */
export type Redact = (text: string) => string

/** A shorter key may occur in other words, for example in a field's name. */
const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is, and in a string of JSON with any of its characters escaped, also if this JSON stands in a string of JSON.
 * It is applied to the text of each response before anything is made of it.
 *
 * A `/` of the key has these forms:
 *
 *   in a string of JSON                       /   \/   \u002f
 *   also in JSON that is in a string of JSON  \\/   \\\/   \u005c/   \\u002f   \u005cu002f
 *
 * So the key is split into units, and the expression has a part for each unit. A unit is one character, with the backslashes of the key
 * before it. For example:
 *
 *   the key         ab\/
 *   its units       a             b             \/
 *   the expression  row? u0061|a  row? u0062|b  row u002f|/    `row` stands for BACKSLASHES below
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const keyUnits = apiKey.match(/\\*[^\\]|\\+$/g) ?? []
  // The first part takes all backslashes before the key. If it left some behind, the JSON would be invalid, because a backslash before
  // `***` is no escape sequence. So a match begins with the first backslash of a row, and the search need not try the others. If it
  // did, millions of backslashes would take too long.
  const expression = new RegExp(String.raw`(?<!\\|\\u005[cC])${keyUnits.map(expressionOf).join('')}`, 'g')
  // Most texts have no backslash. For them, a step need not wait for the expression to be compiled.
  return (text) => (text.includes('\\') ? text.replace(expression, '***') : text.replaceAll(apiKey, '***'))
}

/** A row of backslashes. Each but the first may be written as `\u005c`. How many there are does not matter. */
const BACKSLASHES = String.raw`(?:\\+(?:u005[cC]\\*)*)`
/**
 * A row of backslashes at the end of the key. Here the number matters: an odd backslash at the end belongs to what follows, for example to
 * the end of a string. A key has at most 512 backslashes, and JSON in a string of JSON has two pairs for each. Without a limit, a text
 * with millions of pairs would exceed the stack of the expression.
 */
const LAST_BACKSLASHES = String.raw`(?:(?:\\{1,3}u005[cC]|\\\\){1,1024}|\\)`

/** The row before a character is optional, unless the key itself has a backslash there. */
function expressionOf(unit: string): string {
  const character = unit.slice(-1)
  if (character === '\\') return LAST_BACKSLASHES
  // A key is ASCII, so only the last hexadecimal digit can be a letter.
  const digits = character
    .charCodeAt(0)
    .toString(16)
    .replace(/[a-f]/, (letter) => `[${letter}${letter.toUpperCase()}]`)
  return `${BACKSLASHES}${unit === character ? '?' : ''}(?:u00${digits}|${character.replace(/\W/, '\\$&')})`
}
