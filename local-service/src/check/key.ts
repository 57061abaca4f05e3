/** A shorter text may be a part of other words. */
const SHORTEST_PART_CHARS = 8

/** What the check sends in place of the key. Each of them shows most of the key. */
export function similarKeys(key: string) {
  const swapCase = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())
  return {
    longer: `${key}x`,
    shorter: key.slice(0, -1),
    /** Equal to the key, if the key has no letters. */
    otherCase: key.replace(/[a-z]/gi, swapCase),
  }
}

/** The beginning of a text from outside, without the key and without the similar keys. */
export function excerptWithoutKey(text: string, key: string, limitChars: number): string {
  // JSON may write each character of the key as six. Without this part, a key at the limit would be cut, and not found.
  const longestFormChars = 6 * key.length
  const beginning = text.slice(0, limitChars + longestFormChars)
  const redacted = withoutKey(beginning, key)
  if (beginning.length === text.length) {
    return redacted.length <= limitChars ? redacted : `${redacted.slice(0, limitChars)}…`
  }
  // The end of the beginning may have a part of a key.
  return `${redacted.slice(0, -longestFormChars).slice(0, limitChars)}…`
}

function withoutKey(text: string, key: string): string {
  const { shorter, otherCase } = similarKeys(key)
  const secrets = [key, otherCase, encodeURIComponent(key), ...(key.length < SHORTEST_PART_CHARS ? [] : [shorter])]
  return secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => replaceInJson(rest, secret).replaceAll(secret, '***'), text)
}

/** Replaces a secret of which any character may be written as JSON escapes it. The other characters stay as written. */
function replaceInJson(text: string, secret: string): string {
  const written = text.match(/\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]|./gs) ?? []
  const meant = written.map((one) => (one.length === 1 ? one : JSON.parse(`"${one}"`))).join('')
  let at = 0
  const parts = meant.split(secret).map((part) => {
    const begin = at
    at += part.length + secret.length
    return written.slice(begin, begin + part.length).join('')
  })
  return parts.join('***')
}
