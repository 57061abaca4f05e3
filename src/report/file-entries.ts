import type { OutcomeWithRun } from '../model/outcome.ts'
import type { TestCase } from '../model/run.ts'
import { render } from '../text/safe-text.ts'
import { untrusted } from '../text/untrusted.ts'
import { verdictSentences } from './ending.ts'

/**
 * The test cases of `junit.xml` and `ctrf.json`, and an entry for the run itself if it is needed, because programs that read these
 * files look only at test cases.
 */
export function fileEntries(outcome: OutcomeWithRun): readonly TestCase[] {
  const { run, success, counts } = outcome
  const { testCases = [], rawStatus, message } = run
  // The entry has the message of the run. If the step fails, it is also there if the test cases alone would look complete, although the run
  // ended early, or would look green, because none failed.
  const endedEarly = run.status !== 'PASSED' && run.status !== 'FAILED'
  const looksGreen = counts.failed === 0
  const needsEntry = message !== undefined || (!success && (endedEarly || looksGreen))
  if (!needsEntry) return testCases
  const reason = message ?? untrusted(render(verdictSentences(outcome)))
  // In JUnit, a case that was interrupted is an error, and no failed assertion.
  const entry: TestCase = { title: untrusted('The run itself'), rawStatus, kind: 'interrupted', message: reason }
  return [...testCases, entry]
}
