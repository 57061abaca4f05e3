import type { ReadRunOutcome } from '../model/outcome.ts'

/** The name of the entry for the run itself, in files that list test cases. */
export const RUN_ENTRY = 'The run itself'

/**
 * Whether `junit.xml` and `ctrf.json` have an entry for the run itself. Programs that read these files look only at test
 * cases. So they would take a run that did not pass for green, unless one of its cases failed, and for complete if it ended early.
 */
export function hasRunEntry({ run, success, counts }: ReadRunOutcome): boolean {
  const isComplete = run.status === 'PASSED' || run.status === 'FAILED'
  return run.message !== undefined || (!success && (counts.failed === 0 || !isComplete))
}
