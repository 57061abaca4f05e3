/** Replaces the key in a text. */
export type Redact = (text: string) => string

/** A shorter key may occur in other words, for example in a field's name. */
const SHORTEST_KEY_CHARS = 8

/** In the tenth level of JSON within JSON, an escaped character has about 1,000 backslashes. */
const LEVELS_LIMIT = 10

/** Where a text has the key: its first beginning, its first end, its second beginning, and so on. */
type Positions = readonly number[]

/**
 * Finds the key as it is, and in a string of JSON with any of its characters escaped. When a server quotes the response of another
 * server, JSON stands within a string of JSON. So the key is looked for in each level. Applied to the text of each response before
 * anything is made of it.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const find = finderOf(apiKey)
  const mayBeEscaped = escapesIn(apiKey)
  return (text) => {
    const found = [find(text)]
    if (mayBeEscaped.test(text)) {
      const levels = [text]
      for (let level = text; levels.length <= LEVELS_LIMIT && level.includes('\\'); levels.push(level)) {
        level = decoded(level)
        found.push(levels.reduceRight(positionsBefore, find(level)))
      }
    }
    return replaced(text, found)
  }
}

/** Finds the escape sequences that can stand for a character of the key. Most texts have none, and need only one search. */
function escapesIn(key: string): RegExp {
  const others = ['"', '/', '\\'].filter((character) => key.includes(character)).map((character) => `|\\${character}`)
  return new RegExp(`\\\\(?:u00[2-7][\\dA-Fa-f]${others.join('')})`)
}

/** An escape sequence of JSON stands for one UTF-16 unit. */
const ESCAPE_SEQUENCE = /\\(?:u[\dA-Fa-f]{4}|[\s\S])/g

/** The text with each escape sequence decoded once. */
function decoded(text: string): string {
  const units = new Uint16Array(text.length)
  let length = 0
  let from = 0
  const copyUpTo = (end: number) => {
    while (from < end) units[length++] = text.charCodeAt(from++)
  }
  for (let at = text.indexOf('\\'); at >= 0 && at + 1 < text.length; at = text.indexOf('\\', from)) {
    copyUpTo(at)
    const digits = text.slice(at + 2, at + 6)
    const isUnicode = text[at + 1] === 'u' && /^[\dA-Fa-f]{4}$/.test(digits)
    units[length++] = isUnicode ? Number.parseInt(digits, 16) : unitAfterBackslash(text.charCodeAt(at + 1))
    from = at + (isUnicode ? 6 : 2)
  }
  copyUpTo(text.length)
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le')
}

const CONTROL_LETTERS = new Set([...'bfnrt'].map((letter) => letter.charCodeAt(0)))
const LINE_BREAK = '\n'.charCodeAt(0)

function unitAfterBackslash(unit: number): number {
  // They stand for control characters, which no key has.
  return CONTROL_LETTERS.has(unit) ? LINE_BREAK : unit
}

/** Maps positions in the decoded text to positions in the text from which it was decoded. */
function positionsBefore(positions: Positions, encoded: string): Positions {
  const before: number[] = []
  let removed = 0
  const addUpTo = (limit: number) => {
    for (let next = positions[before.length]; next !== undefined && next <= limit; next = positions[before.length])
      before.push(next + removed)
  }
  for (const { index, 0: sequence } of positions.length === 0 ? [] : encoded.matchAll(ESCAPE_SEQUENCE)) {
    addUpTo(index - removed)
    removed += sequence.length - 1
  }
  addUpTo(Number.POSITIVE_INFINITY)
  return before
}

function replaced(text: string, found: readonly Positions[]): string {
  let shown = ''
  let from = 0
  for (const [begin, end] of spansOf(found)) {
    // Half of an escape sequence would make the JSON invalid.
    if (begin >= from) shown += `${text.slice(from, isEscaped(text, begin) ? begin - 1 : begin)}***`
    from = Math.max(from, end)
  }
  return shown + text.slice(from)
}

function spansOf(found: readonly Positions[]): readonly (readonly [begin: number, end: number])[] {
  const spans: [number, number][] = []
  for (const positions of found)
    for (let index = 0; index < positions.length; index += 2)
      spans.push([positions[index] ?? 0, positions[index + 1] ?? 0])
  return spans.sort(([one], [other]) => one - other)
}

/** Whether an odd number of backslashes stands before this place. */
function isEscaped(text: string, at: number): boolean {
  let begin = at
  while (text[begin - 1] === '\\') begin--
  return (at - begin) % 2 === 1
}

/**
 * Looks for the key with the algorithm of Knuth, Morris and Pratt. A text may be 16 MiB of a part of the key that is repeated. Other
 * algorithms would look at each character as often as the key is long.
 */
function finderOf(key: string): (text: string) => Positions {
  const units = Uint16Array.from([...key].map((character) => character.charCodeAt(0)))
  /** If the next character does not fit: how many of the last characters are the beginning of the key all the same. */
  const stillFit = new Uint16Array(key.length + 1)
  for (let at = 1, count = 0; at < key.length; at++) {
    count = fittingAfter(count, units[at])
    stillFit[at + 1] = count
  }

  function fittingAfter(before: number, unit: number | undefined): number {
    let count = before
    while (count > 0 && unit !== units[count]) count = stillFit[count] ?? 0
    return unit === units[count] ? count + 1 : 0
  }

  const start = key.slice(0, SHORTEST_KEY_CHARS)
  return (text) => {
    const positions: number[] = []
    const first = text.indexOf(start)
    let count = 0
    for (let at = first; at >= 0 && at < text.length; at++) {
      count = fittingAfter(count, text.charCodeAt(at))
      if (count < key.length) continue
      positions.push(at + 1 - count, at + 1)
      count = 0
    }
    return positions
  }
}
