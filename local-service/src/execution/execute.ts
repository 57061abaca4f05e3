import { join, relative } from 'node:path'
import { whyMoved } from '../checkout/checkout.ts'
import { linkPackages } from '../checkout/packages.ts'
import { addWorkTree } from '../checkout/repository.ts'
import { isBad } from '../frameworks/report.ts'
import { describeEnd, hasSucceeded } from '../machine/command.ts'
import type { TestedFolders } from '../machine/files.ts'
import { quoteCommand } from '../text.ts'
import { gitEnvironment, type RunContext, setupOf, tell } from './context.ts'
import { fixTests } from './fix.ts'
import { type RunOutcome, withoutTests } from './outcome.ts'
import { runProjectCommand } from './project-command.ts'
import { createRunFolders } from './resources.ts'
import { type RunningTests, runFramework } from './run-framework.ts'

export async function executeRun(
  run: RunContext,
  stop: AbortSignal,
  onTests: (tests: RunningTests) => void = () => undefined,
): Promise<RunOutcome> {
  await createRunFolders(run.resources)
  run.output.open()
  try {
    const moved = await whyMoved(run.checkout, gitEnvironment(run), stop)
    if (moved !== undefined) return withoutTests(stop, moved)
    const folders = await prepareFiles(run, stop)
    const setup = setupOf(run)
    if (setup !== undefined) {
      const end = await runProjectCommand(folders, run, setup, stop)
      if (!hasSucceeded(end)) return withoutTests(stop, `setup: ${quoteCommand(setup)} ${describeEnd(end)}`)
    }
    const outcome = await runFramework(run, folders, stop, onTests)
    await run.output.keepFiles(run.resources.filesFolder)
    // Clients see the run as finished after the fix, so that the next step of a job finds the changes.
    if (run.autofix && outcome.status === 'FAILED' && outcome.testCases.some(isBad)) {
      tell(run, `auto-fix: ${await fixTests(run, folders, stop)}`)
    }
    return outcome
  } finally {
    run.output.close()
  }
}

/** Returns the folders that a run tests. Makes the work tree if the run needs one. Throws if the run is stopped meanwhile. */
export async function prepareFiles(run: RunContext, stop: AbortSignal): Promise<TestedFolders> {
  const { checkout } = run
  if (checkout.kind === 'in-place') return checkout.place
  const { place, commit } = checkout
  const { tree } = run.resources
  await addWorkTree({ ...place, env: gitEnvironment(run), signal: stop }, commit, tree, run.runId)
  // A setup installs its own packages. Through links, it would change the packages of the project's folder.
  if (setupOf(run) === undefined) await linkPackages(place, tree)
  return { root: tree, folder: join(tree, relative(place.root, place.folder)) }
}
