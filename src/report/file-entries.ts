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
  // The entry is needed in three cases:
  // 1. The run has a message, which stands only in this entry.
  // 2. The step fails, and the run ended early. Without the entry, the test cases would look complete.
  // 3. The step fails, and no test case failed. Without the entry, the file would look green.
  const endedEarly = run.status !== 'PASSED' && run.status !== 'FAILED'
  const looksGreen = counts.failed === 0
  const needsEntry = message !== undefined || (!success && (endedEarly || looksGreen))
  if (!needsEntry) return testCases
  const reason = message ?? untrusted(render(verdictSentences(outcome)))
  // In JUnit, a case that was interrupted is an error, and no failed assertion.
  const entry: TestCase = { title: untrusted('The run itself'), rawStatus, kind: 'interrupted', message: reason }
  return [...testCases, entry]
}
