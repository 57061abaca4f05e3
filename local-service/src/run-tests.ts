import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keepChangesSince, takeSnapshot } from './auto-fix.ts'
import type { Checkout } from './checkout.ts'
import { findInstalledCommand, type Selection } from './framework.ts'
import type { RunExclusive } from './keyed-mutex.ts'
import type { Project } from './project.ts'
import type { RunOutcome, TestCase } from './run.ts'
import { type CommandEnd, runCommand } from './run-command.ts'
import type { RunTask } from './run-queue.ts'
import { count } from './text.ts'
import { addWorkTree, linkPackages, removeWorkTree } from './work-tree.ts'

export interface TestRun {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  readonly selection: Selection
  /** The whole environment of the tests, except what the framework's reporter needs. */
  readonly env: NodeJS.ProcessEnv
  readonly autofix: boolean
  /** The run's own folder, created and removed here. */
  readonly runFolder: string
  readonly runLimitMs: number
  readonly stopGraceMs: number
  readonly log: (text: string) => void
  /** git cannot create or remove two work trees of one repository at once: it fails on the unfinished one. */
  readonly runExclusive: RunExclusive
}

/** The files that a run tests, when they are ready. */
interface SourceTree {
  /** The project's folder. */
  readonly folder: string
  /** The folder of the repository or work tree that it is in. */
  readonly root: string
}

const BAD_STATUSES: ReadonlySet<string> = new Set(['FAILED', 'TIMEDOUT', 'INTERRUPTED'])

/** One run: prepare a folder, run the tests, read their report, try to fix what failed, clean up. */
export function createRunTask(run: TestRun): RunTask {
  return async (stop, finishEarly) => {
    const { checkout, project } = run
    await mkdir(run.runFolder, { recursive: true })
    const workTree = join(run.runFolder, 'tree')
    try {
      const source =
        checkout.kind === 'in-place'
          ? { folder: project.folder, root: checkout.root }
          : await prepareWorkTree(run, checkout, workTree, stop)
      if (source === undefined) return { status: 'INTERRUPTED', testCases: [] }
      const outcome = await runTests(run, source, stop)
      if (run.autofix && outcome.status === 'FAILED' && failuresIn(outcome) > 0) {
        finishEarly(outcome)
        await fix(run, source, outcome, stop)
      }
      return outcome
    } finally {
      await cleanUp(run, workTree)
    }
  }
}

/** Files that cannot be removed, such as a container's that belong to root, do not change the outcome of the tests. */
async function cleanUp({ checkout, runFolder, runExclusive, log }: TestRun, workTree: string): Promise<void> {
  try {
    if (checkout.kind === 'work-tree') {
      await runExclusive(checkout.repository.root, () => removeWorkTree(checkout.repository, workTree))
    }
    await rm(runFolder, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    log(`could not remove its files: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function prepareWorkTree(
  run: TestRun,
  { repository, commit }: Checkout & { kind: 'work-tree' },
  workTree: string,
  stop: AbortSignal,
): Promise<SourceTree | undefined> {
  const { setup } = run.project
  const root = workTree
  const folder = await run.runExclusive(repository.root, () => addWorkTree(repository, commit, root))
  // A setup installs its own packages: through a link it would change those of the repository's folder.
  if (setup === undefined) {
    await linkPackages(repository, root)
    return { folder, root }
  }
  const end = await runCommand({ ...commandIn(run, folder), argv: setup }, stop)
  if (end.kind === 'exited' && end.code === 0) return { folder, root }
  run.log(`setup ${describeEnd(end)}${quoteOutput(end)}`)
  return undefined
}

async function runTests(run: TestRun, { folder, root }: SourceTree, stop: AbortSignal): Promise<RunOutcome> {
  const { framework } = run.project
  const command = run.project.command ?? findInstalledCommand(framework.packageName, folder, root)
  if (command === undefined) {
    run.log(
      `${framework.packageName} is not installed in ${run.project.folder}. Install it, or set "setup" or "command".`,
    )
    return { status: 'INTERRUPTED', testCases: [] }
  }
  const paths = { reportFile: join(run.runFolder, 'report.json'), outputFolder: join(run.runFolder, 'output') }
  await rm(paths.reportFile, { force: true })
  const end = await runCommand(
    {
      ...commandIn(run, folder),
      argv: [...command, ...framework.arguments(run.selection, paths)],
      env: { ...run.env, ...framework.env(paths) },
    },
    stop,
  )
  const testCases = framework.readReport(await readJson(paths.reportFile), folder)
  const outcome = toOutcome(end, testCases)
  if (outcome.status !== 'PASSED') {
    const without = testCases === undefined ? ' without a report' : ''
    run.log(`${framework.name} ${describeEnd(end)}${without}${quoteOutput(end)}`)
  }
  return outcome
}

/**
 * PASSED needs three things to agree: the runner's exit code, its report, and at least one test case. FAILED needs a
 * report too; a runner that exits without one makes the run INTERRUPTED.
 */
function toOutcome(end: CommandEnd, testCases: readonly TestCase[] | undefined): RunOutcome {
  if (end.kind !== 'exited' || testCases === undefined) return { status: 'INTERRUPTED', testCases: testCases ?? [] }
  const passed = end.code === 0 && testCases.length > 0 && !testCases.some(({ status }) => BAD_STATUSES.has(status))
  return { status: passed ? 'PASSED' : 'FAILED', testCases }
}

async function fix(run: TestRun, source: SourceTree, before: RunOutcome, stopAsked: AbortSignal): Promise<void> {
  const { checkout } = run
  const { autofix } = run.project
  if (autofix === undefined) {
    run.log('auto-fix: not tried, the project has no "autofix" command')
    return
  }
  if (checkout.kind === 'in-place') {
    run.log('auto-fix: not tried, the project is in no git repository with a commit')
    return
  }
  // The run has finished for its clients, and its limit with it.
  const stop = AbortSignal.any([stopAsked, AbortSignal.timeout(run.runLimitMs)])
  const tree = { repository: checkout.repository, workTree: source.root, runFolder: run.runFolder, runId: run.runId }
  const snapshot = await takeSnapshot(tree)
  const end = await runCommand({ ...commandIn(run, source.folder), argv: autofix }, stop)
  const wentWell = end.kind === 'exited' && end.code === 0
  run.log(`auto-fix: ${autofix.join(' ')} ${describeEnd(end)}${wentWell ? '' : quoteOutput(end)}`)
  // Half of the changes are no fix. A command that exits with an error may still have fixed something.
  if (end.kind === 'stopped') return
  const branch = await keepChangesSince(snapshot, tree)
  if (branch === undefined) {
    run.log('auto-fix: nothing was changed, so there is no branch')
    return
  }
  run.log(`auto-fix: the changes are on branch ${branch}`)
  const after = await runTests(run, source, stop)
  run.log(
    `auto-fix: ${count(failuresIn(before), 'test case')} failed before, ${failuresIn(after)} after (${after.status})`,
  )
}

function commandIn(run: TestRun, folder: string) {
  return { folder, env: run.env, runId: run.runId, stopGraceMs: run.stopGraceMs }
}

function failuresIn({ testCases }: RunOutcome): number {
  return testCases.filter(({ status }) => BAD_STATUSES.has(status)).length
}

async function readJson(file: string): Promise<unknown> {
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch {
    // Truncated, because the process was killed.
    return undefined
  }
}

function describeEnd(end: CommandEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exited with code ${end.code}`
    case 'killed':
      return `was killed by ${end.signal}`
    case 'not-started':
      return `could not be started: ${end.reason}`
    case 'stopped':
      return 'was stopped'
  }
}

/** The last output of a command, as indented lines of the log. */
function quoteOutput({ lastOutput }: CommandEnd): string {
  const lines = lastOutput
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .trim()
  return lines === '' ? '' : `; its last output:\n${lines.replace(/^/gm, '    | ')}`
}
