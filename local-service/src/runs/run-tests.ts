import { quoteCommand } from '../text.ts'
import { describeEnd, hasSucceeded } from './command-end.ts'
import { fixWithinLimit } from './fix-tests.ts'
import { prepareFiles } from './prepare-files.ts'
import { interruptedBecause, isBad, type RunOutcome } from './run.ts'
import { interrupt, lacksRoom, runFramework } from './run-framework.ts'
import { runInSource } from './run-in-source.ts'
import { createRunFolders, filesFolderOf, NO_ROOM } from './run-resources.ts'
import type { TestRun } from './test-run.ts'

/** Prepares a folder, runs the tests, reads their report, and tries to fix what failed. */
export async function runTests(
  run: TestRun,
  stop: AbortSignal,
  finishEarly: (outcome: RunOutcome) => void,
): Promise<RunOutcome> {
  await createRunFolders(run.resources)
  run.output?.open()
  try {
    return await runInFolders(run, stop, finishEarly)
  } finally {
    run.output?.close()
  }
}

async function runInFolders(
  run: TestRun,
  stop: AbortSignal,
  finishEarly: (outcome: RunOutcome) => void,
): Promise<RunOutcome> {
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
  // The files are kept before clients see the run as finished. Auto-fix runs the tests again, and its files are not kept.
  await run.output?.keepFiles(filesFolderOf(run.resources))
  if (run.autofix && outcome.status === 'FAILED' && outcome.testCases.some(isBad)) {
    finishEarly(outcome)
    await fixWithinLimit(run, source, outcome, stop)
  }
  return outcome
}
