import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { whyMoved } from '../checkout/checkout.ts'
import { linkPackages } from '../checkout/packages.ts'
import { makeWorkTree } from '../checkout/work-tree.ts'
import { readShards, withProblems } from '../frameworks/merge.ts'
import { ResultReader } from '../frameworks/reading.ts'
import { isBad, type Report, type TestCase } from '../frameworks/report.ts'
import { type Progress, readProgress } from '../frameworks/report-reader.ts'
import { isUnusable, type Unusable } from '../frameworks/unusable.ts'
import { type CommandEnd, describeEnd, hasSucceeded, STOPPED } from '../machine/command.ts'
import { argvOf } from '../machine/script.ts'
import { REPORT_FILE, REPORT_ROOT } from '../reporters/report-writer.ts'
import { quoteCommand } from '../text.ts'
import { fixTests } from './fix.ts'
import { outcomeOfUnusable, type RunOutcome, toOutcome, withoutTests } from './outcome.ts'
import { findInstalled, gitOptionsIn, type RunContext, runProjectCommand } from './project-command.ts'

export interface RunningTests {
  /** Undefined if no reporter of the service counts the tests, and during the fix. */
  progress(): Progress | undefined
  /** The test cases of a run that is stopped now. */
  testCases(): Promise<readonly TestCase[]>
}

/** `onTests` is called when the tests begin, and again before the fix. */
export async function executeRun(run: RunContext, onTests: (tests: RunningTests) => void): Promise<RunOutcome> {
  const { output, resources, stop } = run
  // With it, the folders above it are made too: all that the run writes is in them.
  await mkdir(resources.homeFolder, { recursive: true, mode: 0o700 })
  output.open()
  try {
    const problem = await prepare(run)
    const tested = problem === undefined ? await runTests(run, onTests) : withoutTests(problem)
    const outcome = stop.aborted ? { ...stop.reason, testCases: tested.testCases } : tested
    await output.keepFiles(resources.filesFolder)
    // Clients see the run as finished after the fix, so that the next step of a job finds the changes.
    if (run.autofix && outcome.status === 'FAILED' && outcome.testCases.some(isBad)) {
      // The fix may change the reports of the tests. If the run is stopped now, its test cases are those that were read before.
      onTests({ progress: () => undefined, testCases: async () => outcome.testCases })
      run.log(`auto-fix: ${await fixTests(run)}`)
    }
    return outcome
  } finally {
    output.close()
  }
}

/**
 * Makes the work tree if the run needs one. Returns why the tests cannot run. If the run is stopped meanwhile, this may throw or return any reason,
 * because `executeRun` and the queue then take the reason of the stop.
 */
async function prepare(run: RunContext): Promise<string | undefined> {
  const { project, checkout, resources } = run
  const { original, workTreeCommit, branchName } = checkout
  const git = gitOptionsIn(original.folder, run)
  if (workTreeCommit === undefined) return whyMoved(branchName, git)
  await makeWorkTree(resources.tree, workTreeCommit, git)
  const { setup } = project
  if (setup === undefined) {
    await linkPackages(original, resources.tree)
    return undefined
  }
  // A setup installs its own packages. Through links, it would change the packages of the project's folder.
  const end = await runProjectCommand(run, argvOf(setup))
  return hasSucceeded(end) ? undefined : `setup: ${quoteCommand(setup)} ${describeEnd(end)}`
}

/** Runs the tests once, reads their results, and decides about the outcome. */
async function runTests(run: RunContext, onTests: (tests: RunningTests) => void): Promise<RunOutcome> {
  const { project, checkout, resources, tested: folders, selection, stop, log } = run
  const { framework } = project
  const installed = findInstalled(run)
  if (isUnusable(installed)) return outcomeOfUnusable(installed)
  // The name is random, so that the tests of an earlier run in this folder cannot forge the events.
  const eventsFile = join(resources.frameworkFolder, `events-${crypto.randomUUID()}`)
  await using reader = new ResultReader(stop)
  const copiesFolder = join(resources.frameworkFolder, 'blobs')
  // Undefined if the project has no "merge".
  const blobs = await readShards({ ...project, folders, copiesFolder }, framework.name, reader)
  if (isUnusable(blobs)) return outcomeOfUnusable(blobs)
  const call = await framework.prepareCall({
    ...project,
    installed,
    blobs,
    selection,
    folders,
    git: gitOptionsIn(folders.root, run),
    isInPlace: checkout.workTreeCommit === undefined,
    outputFolder: resources.filesFolder,
    reporterFolder: join(resources.frameworkFolder, 'reporter'),
  })
  if (call.replacesReporters) {
    const reason = project.command === undefined ? '' : ', because the project has a "command"'
    log(`the service replaces the reporters of the project${reason}`)
  }
  const read = async (end: CommandEnd) => {
    const found =
      call.readJunitFiles === undefined
        ? await reader.read('events', { file: eventsFile, folders })
        : await call.readJunitFiles(end, reader)
    if (isUnusable(found)) return reportOfUnusable(found)
    return found && blobs ? withProblems(blobs, found) : found
  }
  onTests({
    progress: () => readProgress(eventsFile),
    // The command still runs, so its results are read as those of a stopped command.
    testCases: async () => (await read(STOPPED))?.testCases ?? [],
  })
  const reporterVariables =
    call.readJunitFiles === undefined ? { [REPORT_FILE]: eventsFile, [REPORT_ROOT]: folders.root } : {}
  const ended = call.argv && runProjectCommand(run, call.argv, { ...reporterVariables, ...call.env })
  // The command has been started above. The thread starts only now, because its start would delay the command.
  reader.prepareThread()
  const end: CommandEnd = (await ended) ?? { kind: 'no-command', output: '' }
  const caller = {
    title: call.title,
    noTestsArgument: framework.noTestsArgument,
    args: project.args,
    isProjectCommand: project.command !== undefined,
    hintWithoutReport: framework.hintWithoutReport,
  }
  const report = await read(end)
  if (report?.remark !== undefined) log(report.remark)
  return toOutcome(caller, end, report)
}

/** Results are over a limit because of what the tests wrote. So they fail the run. */
function reportOfUnusable({ kind, reason }: Unusable): Report {
  return { testCases: [], isComplete: false, mustFail: kind === 'over-limit', errors: [], said: [], problem: reason }
}
