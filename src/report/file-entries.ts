import type { ReadRunOutcome } from '../model/outcome.ts'
import type { TestCase } from '../model/run.ts'
import { render } from '../text/safe-text.ts'
import { untrusted } from '../text/untrusted.ts'
import { verdictSentences } from './ending.ts'

/**
 * The test cases of `junit.xml` and `ctrf.json`, and an entry for the run itself if it is needed. Programs that read these files look
 * only at test cases. So they would take a run that did not pass for green, unless one of its cases failed, and for complete if it
 * ended early.
 */
export function fileEntries(outcome: ReadRunOutcome): readonly TestCase[] {
  const { run, success, counts } = outcome
  const { testCases = [], rawStatus, message } = run
  const isComplete = run.status === 'PASSED' || run.status === 'FAILED'
  if (message === undefined && (success || (counts.failed > 0 && isComplete))) return testCases
  const reason = message ?? untrusted(render(verdictSentences(outcome)))
  // In JUnit, a case that was interrupted is an error.
  const entry: TestCase = { title: untrusted('The run itself'), rawStatus, kind: 'interrupted', message: reason }
  return [...testCases, entry]
}
