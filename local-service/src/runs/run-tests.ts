import { quoteCommand } from '../text.ts'
import { describeEnd, hasSucceeded } from './command-end.ts'
import { fixTests } from './fix-tests.ts'
import { needsSetup, prepareFiles } from './prepare-files.ts'
import { interruptedBecause, isBad, type RunOutcome } from './run.ts'
import { interrupt, lacksRoom, runFramework } from './run-framework.ts'
import { runInSource } from './run-in-source.ts'
import { createRunFolders, filesFolderOf, NO_ROOM } from './run-resources.ts'
import type { TestRun } from './test-run.ts'

/** Prepares a folder, runs the tests, reads their report, and tries to fix what failed. */
export async function runTests(run: TestRun, stop: AbortSignal): Promise<RunOutcome> {
  await createRunFolders(run.resources)
  run.output.open()
  try {
    return await runInFolders(run, stop)
  } finally {
    run.output.close()
  }
}

async function runInFolders(run: TestRun, stop: AbortSignal): Promise<RunOutcome> {
  const source = await prepareFiles(run, stop)
  if (source === undefined) return interruptedBecause()
  const { setup } = run.project
  if (setup !== undefined && needsSetup(run)) {
    const end = await runInSource(source, run, setup, stop)
    if (!hasSucceeded(end)) {
      const reason =
        end.kind !== 'stopped' && (await lacksRoom(run, source))
          ? NO_ROOM
          : `${quoteCommand(setup)} ${describeEnd(end)}`
      return interrupt(run, `setup: ${reason}`, end)
    }
  }
  const outcome = await runFramework(run, source, stop)
  await run.output.keepFiles(filesFolderOf(run.resources))
  // Clients see the run as finished after the fix, so that the next step of a job finds the changes.
  if (run.autofix && outcome.status === 'FAILED' && outcome.testCases.some(isBad)) await fixTests(run, source, stop)
  return outcome
}
