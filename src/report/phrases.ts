import { code, type Fragment, fragment } from '../text/safe-text.ts'

// Words that several reports share.

export const NONE = fragment``

export const CANCEL_IT = fragment`If the run should not go on, cancel it at the service.`

/**
 * Main and post say this if the service may have accepted a start, but no run id is known. For example, there was no response, or its
 * status was 500 or 408, or it was 2xx and invalid.
 */
export const RUN_WITHOUT_ID = fragment`A run may have been started, and it cannot be looked up without its id. If the service shows a run of this branch that began at this time, cancel that run. The operators of the service can find the run by the header ${code('User-Agent')} of the start request, which names this workflow run.`

export function casesOf(count: number): Fragment {
  return count === 1 ? fragment`test case` : fragment`test cases`
}

export const [COMMA, DOT, SPACE] = [fragment`, `, fragment` · `, fragment` `]

/** The parts of a text. What is undefined is left out. */
export type Parts = readonly (Fragment | undefined)[]

/** Undefined if there are no parts. */
export function join(parts: readonly [Fragment, ...Parts], separator: Fragment): Fragment
export function join(parts: Parts, separator: Fragment): Fragment | undefined
export function join(parts: Parts, separator: Fragment): Fragment | undefined {
  const present = parts.filter((part) => part !== undefined)
  return present.length === 0 ? undefined : present.reduce((all, part) => fragment`${all}${separator}${part}`)
}

/** Begins with a space. Empty if there are no parts. */
export function inBrackets(parts: Parts): Fragment {
  const list = join(parts, COMMA)
  return list === undefined ? NONE : fragment` (${list})`
}

export function durationText(ms: number): Fragment {
  const wholeMs = Math.round(Math.max(0, ms))
  if (wholeMs < 1000) return fragment`${wholeMs} ms`
  const tenths = Math.round(wholeMs / 100)
  if (tenths < 600) return fragment`${tenths / 10} s`
  const seconds = Math.round(wholeMs / 1000)
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), fragment`min`, seconds % 60, fragment`s`)
  const minutes = Math.round(seconds / 60)
  return twoUnits(Math.floor(minutes / 60), fragment`h`, minutes % 60, fragment`min`)
}

function twoUnits(large: number, largeUnit: Fragment, small: number, smallUnit: Fragment): Fragment {
  return small === 0 ? fragment`${large} ${largeUnit}` : fragment`${large} ${largeUnit} ${small} ${smallUnit}`
}
