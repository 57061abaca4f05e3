import type { ReadRunOutcome } from '../model/outcome.ts'

/** The name of the entry for the run itself, in files that list test cases. */
export const RUN_ENTRY = 'The run itself'

/**
 * Whether `junit.xml` and `ctrf.json` have an entry for the run itself. Programs that read these files look only at test
 * cases. So they would take a run that did not pass for green, unless one of its cases failed.
 */
export function hasRunEntry({ run, ending, reason, success, counts }: ReadRunOutcome): boolean {
  if (run.message !== undefined) return true
  const doCasesShowFailure = counts.failed > 0 && (run.status === 'FAILED' || reason === 'strict')
  // After an abort or a failed poll, a PASSED run is still a run that passed.
  const hasPassed = run.status === 'PASSED' && (success || ending.kind !== 'finished')
  return !hasPassed && !doCasesShowFailure
}
