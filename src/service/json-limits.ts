const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Far beyond what a test service sends, and within what a step decodes and reports in seconds. */
export const JSON_LIMITS = { depth: 1_000, containers: 1_500_000, elements: 1_500_000, distinctNames: 10_000 }

/**
 * Looks at JSON before anything is made of it, in one pass and constant memory. `JSON.parse` takes gigabytes for 64 MiB
 * of nested brackets or of ever new member names. Whether the text is valid JSON is for `JSON.parse` to say.
 *
 * @returns the limit that is exceeded, in words; undefined if none is
 */
export function exceededJsonLimit(bytes: Uint8Array, limits = JSON_LIMITS): string | undefined {
  const names = new Set<number>()
  /** For each open container whether it is an object. */
  const isObject = new Uint8Array(limits.depth + 1)
  let depth = 0
  let containers = 0
  let elements = 0
  let isName = false
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case QUOTE: {
        let hash = 0
        let isEscaped = false
        for (index++; index < bytes.length && (isEscaped || bytes[index] !== QUOTE); index++) {
          if (isName) hash = (Math.imul(hash, 31) + (bytes[index] ?? 0)) | 0
          isEscaped = !isEscaped && bytes[index] === BACKSLASH
        }
        if (isName && names.size <= limits.distinctNames) names.add(hash)
        isName = false
        break
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (++containers > limits.containers) return `at most ${limits.containers} arrays and objects`
        if (++depth > limits.depth) return `JSON nested at most ${limits.depth} levels deep`
        isName = bytes[index] === OPEN_OBJECT
        isObject[depth] = isName ? 1 : 0
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        if (depth > 0) depth--
        break
      case COMMA:
        isName = isObject[depth] === 1
        if (!isName && ++elements > limits.elements) return `at most ${limits.elements} elements of arrays`
        break
    }
  }
  return names.size > limits.distinctNames ? `at most ${limits.distinctNames} different member names` : undefined
}
