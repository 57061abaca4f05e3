import { quoteCommand } from '../text.ts'
import { describeEnd, hasSucceeded } from './command-end.ts'
import { fixWithinLimit } from './fix-tests.ts'
import { prepareFiles } from './prepare-files.ts'
import { interruptedBecause, isBad, type RunOutcome } from './run.ts'
import { interrupt, lacksRoom, runFramework } from './run-framework.ts'
import { runInSource } from './run-in-source.ts'
import { createRunFolders, NO_ROOM } from './run-resources.ts'
import type { TestRun } from './test-run.ts'

/** Prepares a folder, runs the tests, reads their report, and tries to fix what failed. */
export async function runTests(
  run: TestRun,
  stop: AbortSignal,
  finishEarly: (outcome: RunOutcome) => void,
): Promise<RunOutcome> {
  await createRunFolders(run.resources)
  const source = await prepareFiles(run, stop)
  if (source === undefined) return interruptedBecause()
  const { setup } = run.project
  if (source.needsSetup && setup !== undefined) {
    const end = await runInSource(source, run, setup, stop)
    if (!hasSucceeded(end)) {
      const reason = (await lacksRoom(run, source, end)) ? NO_ROOM : `${quoteCommand(setup)} ${describeEnd(end)}`
      return interrupt(run, `setup: ${reason}`, end)
    }
  }
  const outcome = await runFramework(run, source, stop)
  if (run.autofix && outcome.status === 'FAILED' && outcome.testCases.some(isBad)) {
    finishEarly(outcome)
    await fixWithinLimit(run, source, outcome, stop)
  }
  return outcome
}
