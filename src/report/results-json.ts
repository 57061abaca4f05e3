import type { StepOutcome } from '../outcome/step-outcome.ts'
import { json, render } from './safe-text.ts'

const ITEMS_PER_CHUNK = 500

/** JSON nested deeper than this is no answer of a test service; parsers would not read it back either. */
const DEEPEST_JSON = 200

/** How deep the list of test cases lies: `results.testCases`. */
const LIST_DEPTH = 2

/** The run as the service sent it, one test case a line. */
export function* resultsJson({ run }: StepOutcome): Iterable<string> {
  yield* chunksOf(run?.raw, 0)
  yield '\n'
}

/** Lists as long as they like to be, written piece by piece; what lies deeper is small, and written whole. */
function* chunksOf(value: unknown, depth: number): Iterable<string> {
  if (depth > LIST_DEPTH || typeof value !== 'object' || value === null) {
    yield text(value)
  } else if (Array.isArray(value)) {
    for (let start = 0; start < value.length; start += ITEMS_PER_CHUNK) {
      const items = value.slice(start, start + ITEMS_PER_CHUNK).map((item) => text(item))
      yield `${start === 0 ? '[\n' : ',\n'}${items.join(',\n')}`
    }
    yield value.length === 0 ? '[]' : '\n]'
  } else {
    let separator = '{\n'
    for (const [name, member] of Object.entries(value)) {
      yield `${separator}${text(name)}: `
      yield* chunksOf(member, depth + 1)
      separator = ',\n'
    }
    yield separator === '{\n' ? '{}' : '\n}'
  }
}

function text(value: unknown): string {
  return render(json(limitDepth(value)))
}

/** JSON nested no deeper than parsers can follow. */
function limitDepth(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST_JSON) return `(left out: nested deeper than ${DEEPEST_JSON} levels)`
  if (Array.isArray(value)) return value.map((item) => limitDepth(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, limitDepth(member, depth + 1)]))
}
