import { type Fragment, fragment } from '../text/safe-text.ts'

// Words that several reports share. test/report/endings.test.ts tests them in whole sentences.

export const NONE = fragment``

export function casesOf(count: number): Fragment {
  return count === 1 ? fragment`test case` : fragment`test cases`
}

/** A sentence with a space before it, or nothing. */
export function seeSummary(hasSummary: boolean): Fragment {
  return hasSummary ? fragment` See the job summary.` : NONE
}

/** A count with its word. Nothing if the count is zero. */
export function nonZero(count: number, word: Fragment): Fragment[] {
  return count > 0 ? [fragment`${count} ${word}`] : []
}

export function inBrackets(parts: readonly Fragment[]): Fragment {
  return parts.length === 0 ? NONE : fragment` (${join(parts, fragment`, `)})`
}

export function joinWithDots(parts: readonly Fragment[]): Fragment {
  return join(parts, fragment` · `)
}

export function join(parts: readonly Fragment[], separator: Fragment): Fragment {
  const [first = NONE, ...others] = parts
  return others.reduce((all, part) => fragment`${all}${separator}${part}`, first)
}
