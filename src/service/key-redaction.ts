/** Replaces the key in a text. */
export type Redact = (text: string) => string

/** A shorter key may occur in other words, for example in a field's name. */
export const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is, and in a string of JSON with any of its characters escaped, also if this JSON stands in a string of JSON.
 * It is applied to the text of each response before anything is made of it.
 *
 * The expression has a part for each character of the key. For example, a `/` of the key has these forms:
 *
 *   in a string of JSON                       /   \/   \u002f
 *   also in JSON that is in a string of JSON  \\/   \\\/   \u005c/   \\u002f   \u005cu002f
 *
 * Each form is `/` or `u002f`, perhaps with backslashes before it. So the part is `(?:BACKSLASHES)?(?:u002f|\/)`. For the key `top/secret`,
 * the results are:
 *
 *   {"title":"x top\/secret"}                {"title":"x ***"}
 *   "{\"title\":\"x top\\u002fsecret\"}"     "{\"title\":\"x ***\"}"
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  // Each part is a character of the key that is no backslash, with the backslashes before it. The key `a\b` has the parts `a` and `\b`.
  const parts = [...apiKey.matchAll(/(\\*)([^\\])/g)].map(([, backslashes = '', character = '']) =>
    partOf(character, backslashes),
  )
  const end = apiKey.endsWith('\\') ? LAST_BACKSLASHES : ''
  const expression = new RegExp(NO_BACKSLASH_BEFORE + parts.join('') + end, 'g')
  // Most texts have no backslash. For them, a step need not wait for the expression to be compiled.
  return (text) => (text.includes('\\') ? text.replace(expression, '***') : text.replaceAll(apiKey, '***'))
}

/**
 * One or more backslashes, because each level of JSON adds some. A backslash is written as `\` or as `\u005c`, and both begin with `\`. So this
 * is a `\`, and then any mix of `\` and `u005c`.
 */
const BACKSLASHES = String.raw`\\+(?:u005[cC]\\*)*`
/**
 * A match must not begin behind a backslash. Otherwise it could leave a backslash before `***`, which makes the JSON invalid. The expression would
 * also be tried at each of millions of backslashes, which takes too long.
 */
const NO_BACKSLASH_BEFORE = String.raw`(?<!\\|\\u005[cC])`

/**
 * All forms of a character. If the key has no backslash before the character, the text may have any number there, because JSON may escape any
 * character. If the key has backslashes there, the text must have at least one. How many does not matter.
 */
function partOf(character: string, backslashesBefore: string): string {
  // A key is ASCII, so only the last hexadecimal digit can be a letter.
  const digits = character
    .charCodeAt(0)
    .toString(16)
    .replace(/[a-f]/, (letter) => `[${letter}${letter.toUpperCase()}]`)
  const before = backslashesBefore === '' ? `(?:${BACKSLASHES})?` : BACKSLASHES
  return `${before}(?:u00${digits}|${character.replace(/\W/, '\\$&')})`
}

// A key may end with backslashes. A last backslash of the key can stand in a text in these forms:
//
//   no JSON             \
//   JSON                \\     \u005c
//   JSON within JSON    \\\\   \\u005c   \\\u005c   \u005c\u005c   …   (a form of JSON, with each of its backslashes in a form of JSON)
//
// In JSON, a single `\` belongs to the character behind it, such as `\"`, so it must stay. So there are two cases, however many backslashes the key
// has at its end. If at least one encoded backslash follows (`\\`, or `u005c` with the backslashes before it), the expression takes all of them. If
// none follows, the text is not JSON, and the expression takes one `\`. For example:
//
//   the text                                    the result
//   secret\ and text that is not JSON           *** and text that is not JSON
//   {"title":"secret\\"}                        {"title":"***"}
//   {"title":"secret\\\" is quoted"}            {"title":"***\" is quoted"}
//   "{\"title\":\"secret\\u005c\"}"             "{\"title\":\"***\"}"

/** `\\`, or `u005c` with one backslash before it, which in JSON within JSON may be written as `\\` or `\\\`. */
const ENCODED_BACKSLASH = String.raw`\\{1,3}u005[cC]|\\\\`
/** In text that is not JSON, a backslash stands for itself. */
const PLAIN_BACKSLASH = String.raw`\\`
/**
 * A key has at most 512 backslashes, and JSON within JSON encodes each of them twice. Without a limit, a text with millions of backslashes would
 * exceed the stack of the expression.
 */
const MOST_ENCODED_BACKSLASHES = 1_024
const LAST_BACKSLASHES = `(?:(?:${ENCODED_BACKSLASH}){1,${MOST_ENCODED_BACKSLASHES}}|${PLAIN_BACKSLASH})`
