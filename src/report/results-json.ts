import type { StepResult } from '../domain/step-result.ts'
import type { Redact } from '../domain/without-key.ts'
import { json, textOf } from './inert.ts'
import { jsonWithoutKey } from './without-key.ts'

const ITEMS_PER_CHUNK = 500

/** How deep the list of test cases lies: `results.testCases`. */
const LIST_DEPTH = 2

/** The run as the service sent it, one test case a line, with the API key masked. */
export function* resultsJson({ run }: StepResult, redact: Redact): Iterable<string> {
  yield* chunksOf(run?.asSent, redact, 0)
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
  return textOf(json(jsonWithoutKey(value, redact)))
}
