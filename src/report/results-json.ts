import type { StepOutcome } from '../outcome/step-outcome.ts'
import { json, jsonLines, render } from '../text/safe-text.ts'

/** JSON nested deeper than this is no response of a test service, and many parsers cannot read it back. */
const DEEPEST_JSON = 200

/** How deep the list of test cases lies: `results.testCases`. */
const LIST_DEPTH = 2

/** The run as the service sent it, one test case a line. */
export function* resultsJson({ run }: StepOutcome): Iterable<string> {
  yield* members(run?.raw, 0)
  yield '\n'
}

/** Lists are written item by item; what lies deeper than the list of test cases is small, and written whole. */
function* members(value: unknown, depth: number): Iterable<string> {
  if (depth > LIST_DEPTH || typeof value !== 'object' || value === null) {
    yield* jsonLines([value], shallow)
  } else if (Array.isArray(value)) {
    yield value.length === 0 ? '[' : '[\n'
    yield* jsonLines(value, shallow)
    yield value.length === 0 ? ']' : '\n]'
  } else {
    let separator = '{\n'
    for (const [name, member] of Object.entries(value)) {
      yield `${separator}${render(json(name))}: `
      yield* members(member, depth + 1)
      separator = ',\n'
    }
    yield separator === '{\n' ? '{}' : '\n}'
  }
}

function shallow(value: unknown): unknown {
  return isDeeperThan(DEEPEST_JSON, value) ? limitDepth(value, DEEPEST_JSON) : value
}

/** A look first: a copy of a hundred thousand test cases, of which none is deep, would cost as much as they do. */
function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const member of Object.values(value)) if (isDeeperThan(levels - 1, member)) return true
  return false
}

function limitDepth(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return `(left out: nested deeper than ${DEEPEST_JSON} levels)`
  if (Array.isArray(value)) return value.map((item) => limitDepth(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, limitDepth(member, levels - 1)]))
}
