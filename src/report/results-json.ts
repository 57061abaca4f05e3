import type { StepResult } from '../outcome/step-result.ts'
import { mapped, type Redact } from '../outcome/without-key.ts'
import { json, render } from './safe-text.ts'

const ITEMS_PER_CHUNK = 500

/** JSON nested deeper than this is no answer of a test service; parsers would not read it back either. */
const DEEPEST_JSON = 200

/** How deep the list of test cases lies: `results.testCases`. */
const LIST_DEPTH = 2

/** The run as the service sent it, one test case a line, with the API key masked. */
export function* resultsJson({ run }: StepResult, redact: Redact): Iterable<string> {
  yield* chunksOf(run?.raw, redact, 0)
  yield '\n'
}

/** Lists as long as they like to be, written piece by piece; what lies deeper is small, and written whole. */
function* chunksOf(value: unknown, redact: Redact, depth: number): Iterable<string> {
  if (depth > LIST_DEPTH || typeof value !== 'object' || value === null) {
    yield text(value, redact)
  } else if (Array.isArray(value)) {
    for (let start = 0; start < value.length; start += ITEMS_PER_CHUNK) {
      const items = value.slice(start, start + ITEMS_PER_CHUNK).map((item) => text(item, redact))
      yield `${start === 0 ? '[\n' : ',\n'}${items.join(',\n')}`
    }
    yield value.length === 0 ? '[]' : '\n]'
  } else {
    let separator = '{\n'
    for (const [name, member] of Object.entries(value)) {
      yield `${separator}${text(name, redact)}: `
      yield* chunksOf(member, redact, depth + 1)
      separator = ',\n'
    }
    yield separator === '{\n' ? '{}' : '\n}'
  }
}

function text(value: unknown, redact: Redact): string {
  return render(json(jsonWithoutKey(value, redact)))
}

/** Decoded JSON with the key masked in strings, names and numbers, and nested no deeper than parsers can follow. */
export function jsonWithoutKey(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redactedNumber(value, redact)
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST_JSON) return `(left out: nested deeper than ${DEEPEST_JSON} levels)`
  if (Array.isArray(value)) return mapped(value, (item) => jsonWithoutKey(item, redact, depth + 1))
  const members = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  let entries: [name: string, member: unknown][] | undefined
  for (const [index, name] of names.entries()) {
    const member = members[name]
    const mended: [string, unknown] = [redact(name), jsonWithoutKey(member, redact, depth + 1)]
    if (mended[0] !== name || mended[1] !== member) {
      entries ??= names.slice(0, index).map((before) => [before, members[before]])
    }
    entries?.push(mended)
  }
  return entries === undefined ? value : Object.fromEntries(entries)
}

function redactedNumber(value: number, redact: Redact): number | string {
  const text = String(value)
  const redacted = redact(text)
  return redacted === text ? value : redacted
}
