import type { StepResult } from '../domain/step-result.ts'

const MASK = '***'

/** JSON nested deeper than this is no answer of a test service; parsers would not read it back either. */
const DEEPEST_JSON = 200

/**
 * The result with the API key masked wherever somebody repeated it. Done before any report is written: once text is
 * escaped or cut, the key is no longer found in it. `asSent` stays, for `jsonWithoutKey`.
 */
export function withoutKey(result: StepResult, apiKey: string): StepResult {
  return apiKey === '' ? result : (masked(result, apiKey) as StepResult)
}

export function redact(text: string, apiKey: string): string {
  return apiKey === '' ? text : text.replaceAll(apiKey, MASK)
}

// Both copy only what they change: a hundred thousand test cases without the key cost a look, no memory.

function masked(value: unknown, apiKey: string): unknown {
  if (typeof value === 'string') return redact(value, apiKey)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return mapped(value, (item) => masked(item, apiKey))
  let copy: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const mended = name === 'asSent' ? member : masked(member, apiKey)
    if (mended === member) continue
    copy ??= { ...value }
    copy[name] = mended
  }
  return copy ?? value
}

/** Decoded JSON with the key masked in strings, names and numbers, and nested no deeper than parsers can follow. */
export function jsonWithoutKey(value: unknown, apiKey: string, depth = 0): unknown {
  if (typeof value === 'string') return redact(value, apiKey)
  if (typeof value === 'number') return apiKey !== '' && String(value).includes(apiKey) ? MASK : value
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST_JSON) return `(left out: nested deeper than ${DEEPEST_JSON} levels)`
  if (Array.isArray(value)) return mapped(value, (item) => jsonWithoutKey(item, apiKey, depth + 1))
  let isChanged = false
  const entries = Object.entries(value).map(([name, member]) => {
    const mended = [redact(name, apiKey), jsonWithoutKey(member, apiKey, depth + 1)] as const
    isChanged ||= mended[0] !== name || mended[1] !== member
    return mended
  })
  return isChanged ? Object.fromEntries(entries) : value
}

function mapped(items: readonly unknown[], mend: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const mended = mend(items[index])
    if (mended === items[index]) continue
    copy ??= [...items]
    copy[index] = mended
  }
  return copy ?? items
}
