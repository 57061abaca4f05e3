/** Replaces the API key by `***`. */
export type Redact = (text: string) => string

const MASK = '***'

/** A shorter key would be found within words that have nothing to do with it, field names among them. */
const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is and JSON-escaped. Applied once to each response, as text, before anything is decoded, quoted,
 * truncated or escaped.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const jsonEscaped = JSON.stringify(apiKey).slice(1, -1)
  return (text) => text.replaceAll(jsonEscaped, MASK).replaceAll(apiKey, MASK)
}
