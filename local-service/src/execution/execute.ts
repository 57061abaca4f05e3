import { whyMoved } from '../checkout/checkout.ts'
import { linkPackages } from '../checkout/packages.ts'
import { addWorkTree } from '../checkout/work-tree.ts'
import { isBad } from '../frameworks/report.ts'
import { describeEnd, hasSucceeded } from '../machine/command.ts'
import { argvOf } from '../machine/script.ts'
import { quoteCommand } from '../text.ts'
import { fixTests } from './fix.ts'
import { type RunOutcome, withoutTests } from './outcome.ts'
import { gitOptionsIn, type RunContext, runProjectCommand } from './project-command.ts'
import { createRunFolders } from './resources.ts'
import { type RunningTests, runFramework } from './run-framework.ts'

/** `onTests` is called when the tests begin. */
export async function executeRun(run: RunContext, onTests: (tests: RunningTests) => void): Promise<RunOutcome> {
  const { output, resources, stop } = run
  await createRunFolders(resources)
  output.open()
  try {
    const problem = await prepare(run)
    const tested = problem === undefined ? await runFramework(run, onTests) : withoutTests(problem)
    const outcome = stop.aborted ? { ...stop.reason, testCases: tested.testCases } : tested
    await output.keepFiles(resources.filesFolder)
    // Clients see the run as finished after the fix, so that the next step of a job finds the changes.
    if (run.autofix && outcome.status === 'FAILED' && outcome.testCases.some(isBad)) {
      run.log(`auto-fix: ${await fixTests(run)}`)
    }
    return outcome
  } finally {
    output.close()
  }
}

/** Makes the work tree if the run needs one. Returns why the tests cannot run. Throws if the run is stopped meanwhile. */
async function prepare(run: RunContext): Promise<string | undefined> {
  const { runId, project, checkout, resources } = run
  const { folders, workTree, branchName } = checkout
  const git = gitOptionsIn(folders.folder, run)
  if (workTree === undefined) return whyMoved(branchName, git)
  await addWorkTree(workTree, resources.tree, runId, git)
  const { setup } = project
  if (setup === undefined) {
    await linkPackages(folders, resources.tree)
    return undefined
  }
  // A setup installs its own packages. Through links, it would change the packages of the project's folder.
  const end = await runProjectCommand(run, argvOf(setup))
  return hasSucceeded(end) ? undefined : `setup: ${quoteCommand(setup)} ${describeEnd(end)}`
}
