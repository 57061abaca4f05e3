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
 * before it. For example, `row` stands for BACKSLASHES below:
 *
 *   the key         ab                                ab\/
 *   its units       a               b                 a               b               \/
 *   their parts     row?(?:u0061|a) row?(?:u0062|b)   row?(?:u0061|a) row?(?:u0062|b) row(?:u002f|\/)
 *
 * If a key could be as short as `ab`, its whole expression would be `(?<!\\|\\u005[cC])row?(?:u0061|a)row?(?:u0062|b)`. The results:
 *
 *   {"title":"x \u0061b"}                    {"title":"x ***"}
 *   "{\"title\":\"x \\u005cu0061b\"}"        "{\"title\":\"x ***\"}"
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const keyUnits = apiKey.match(/\\*[^\\]|\\+$/g) ?? []
  // The lookbehind lets a match begin only with the first backslash of a row. A backslash left before `***` would make the JSON invalid. To
  // try each of millions of backslashes would take too long.
  const expression = new RegExp(String.raw`(?<!\\|\\u005[cC])${keyUnits.map(expressionOf).join('')}`, 'g')
  // Most texts have no backslash. For them, a step need not wait for the expression to be compiled.
  return (text) => (text.includes('\\') ? text.replace(expression, '***') : text.replaceAll(apiKey, '***'))
}

/** A row of backslashes, however long, because each level of JSON adds backslashes. Each may be written as `\u005c`, which begins with one. */
const BACKSLASHES = String.raw`(?:\\+(?:u005[cC]\\*)*)`
/**
 * The backslashes at the end of the key. In JSON, only whole pairs belong to the key, because an odd backslash behind them belongs to what
 * follows, for example to the end of a string. A single backslash is of a text that is not JSON.
 *
 * A key has at most 512 backslashes, and JSON in a string of JSON has two pairs for each, so 512 × 2 = 1,024 pairs. Without a limit, a text
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
