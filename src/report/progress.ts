import type { Run } from '../model/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { casesOf, NONE } from './words.ts'

// test/action/wait-for-run.test.ts tests it.

/** `, 126 of 485 test cases done, 2 failed`. Empty if the service does not say how many are done. */
export function progressText({ progress }: Run): Fragment {
  const { total, passed, failed, skipped } = progress ?? {}
  if (passed === undefined && failed === undefined && skipped === undefined) return NONE
  const done = (passed ?? 0) + (failed ?? 0) + (skipped ?? 0)
  const ofTotal = total === undefined ? NONE : fragment` of ${total}`
  const failures = failed ? fragment`, ${failed} failed` : NONE
  return fragment`, ${done}${ofTotal} ${casesOf(total ?? done)} done${failures}`
}
