import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keepChangesSince, takeSnapshot } from './auto-fix.ts'
import type { Workplace } from './checkout.ts'
import { findInstalledCommand, type Selection } from './framework.ts'
import type { InTurn } from './keyed-mutex.ts'
import type { Project } from './project.ts'
import type { RunOutcome, TestCase } from './run.ts'
import { type CommandEnd, runCommand } from './run-command.ts'
import type { Work } from './run-queue.ts'
import { addWorkTree, linkPackages, removeWorkTree } from './work-tree.ts'

export interface TestRun {
  readonly runId: string
  readonly project: Project
  readonly workplace: Workplace
  readonly selection: Selection
  /** The whole environment of the tests, but for what the framework's reporter needs. */
  readonly env: NodeJS.ProcessEnv
  readonly autofix: boolean
  /** A folder of the run's own, made and removed here. */
  readonly home: string
  readonly runLimitMs: number
  readonly stopGraceMs: number
  readonly log: (text: string) => void
  /** git cannot make or remove two work trees of a repository at once: it stumbles over the half-made one. */
  readonly inTurn: InTurn
}

const BAD_STATUSES: ReadonlySet<string> = new Set(['FAILED', 'TIMEDOUT', 'INTERRUPTED'])

/** The work of one run: prepare a folder, run the tests, read what they report, try to fix what failed, clean up. */
export function workOf(run: TestRun): Work {
  return async (stop, announce) => {
    const { workplace, project } = run
    await mkdir(run.home, { recursive: true })
    const workTree = join(run.home, 'tree')
    try {
      const folder =
        workplace.kind === 'in-place' ? project.folder : await prepareWorkTree(run, workplace, workTree, stop)
      if (folder === undefined) return { status: 'INTERRUPTED', testCases: [] }
      const outcome = await runTests(run, folder, stop)
      if (run.autofix && outcome.status === 'FAILED' && failuresIn(outcome) > 0) {
        announce(outcome)
        await fix(run, workTree, folder, outcome, stop)
      }
      return outcome
    } finally {
      await cleanUp(run, workTree)
    }
  }
}

/** What cannot be removed, such as files that a test's container made as root, does not change how the tests went. */
async function cleanUp({ workplace, home, inTurn, log }: TestRun, workTree: string): Promise<void> {
  try {
    if (workplace.kind === 'work-tree') {
      await inTurn(workplace.repository.root, () => removeWorkTree(workplace.repository, workTree))
    }
    await rm(home, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    log(`left files behind: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function prepareWorkTree(
  run: TestRun,
  { repository, commit }: Workplace & { kind: 'work-tree' },
  workTree: string,
  stop: AbortSignal,
): Promise<string | undefined> {
  const { setup } = run.project
  const folder = await run.inTurn(repository.root, () => addWorkTree(repository, commit, workTree))
  // A setup installs packages of its own: through a link it would change those of the repository's folder.
  if (setup === undefined) {
    await linkPackages(repository, workTree)
    return folder
  }
  const end = await runCommand({ ...commandIn(run, folder), argv: setup }, stop)
  if (end.kind === 'exited' && end.code === 0) return folder
  run.log(`setup ${describeEnd(end)}${quoteOutput(end)}`)
  return undefined
}

async function runTests(run: TestRun, folder: string, stop: AbortSignal): Promise<RunOutcome> {
  const { framework } = run.project
  const command = run.project.command ?? findInstalledCommand(framework.packageName, folder)
  if (command === undefined) {
    run.log(
      `${framework.packageName} is not installed in ${run.project.folder}. Install it, or set "setup" or "command".`,
    )
    return { status: 'INTERRUPTED', testCases: [] }
  }
  const place = { reportFile: join(run.home, 'report.json'), outputFolder: join(run.home, 'output') }
  await rm(place.reportFile, { force: true })
  const end = await runCommand(
    {
      ...commandIn(run, folder),
      argv: [...command, ...framework.arguments(run.selection, place)],
      env: { ...run.env, ...framework.env(place) },
    },
    stop,
  )
  const testCases = framework.readReport(await readJson(place.reportFile), folder)
  const outcome = judge(end, testCases)
  if (outcome.status !== 'PASSED') {
    const without = testCases === undefined ? ' without a report' : ''
    run.log(`${framework.name} ${describeEnd(end)}${without}${quoteOutput(end)}`)
  }
  return outcome
}

/**
 * PASSED needs three things to agree: the runner's exit code, its report, and at least one test. FAILED is the
 * runner's own word too; a runner that ended without one is INTERRUPTED.
 */
function judge(end: CommandEnd, testCases: readonly TestCase[] | undefined): RunOutcome {
  if (end.kind !== 'exited' || testCases === undefined) return { status: 'INTERRUPTED', testCases: testCases ?? [] }
  const passed = end.code === 0 && testCases.length > 0 && !testCases.some(({ status }) => BAD_STATUSES.has(status))
  return { status: passed ? 'PASSED' : 'FAILED', testCases }
}

async function fix(
  run: TestRun,
  workTree: string,
  folder: string,
  before: RunOutcome,
  stopAsked: AbortSignal,
): Promise<void> {
  const { workplace } = run
  const { autofix } = run.project
  if (autofix === undefined) {
    run.log('auto-fix: not tried, the project has no "autofix" command')
    return
  }
  if (workplace.kind === 'in-place') {
    run.log('auto-fix: not tried, the project is in no git repository with a commit')
    return
  }
  // The run is over for its clients, its limit with it.
  const stop = AbortSignal.any([stopAsked, AbortSignal.timeout(run.runLimitMs)])
  const tree = { repository: workplace.repository, workTree, home: run.home, runId: run.runId }
  const snapshot = await takeSnapshot(tree)
  const end = await runCommand({ ...commandIn(run, folder), argv: autofix }, stop)
  const wentWell = end.kind === 'exited' && end.code === 0
  run.log(`auto-fix: ${autofix.join(' ')} ${describeEnd(end)}${wentWell ? '' : quoteOutput(end)}`)
  // Half of its changes are no fix; one that exits with an error may still have changed for the better.
  if (end.kind === 'stopped') return
  const branch = await keepChangesSince(snapshot, tree)
  if (branch === undefined) {
    run.log('auto-fix: nothing was changed, so there is no branch')
    return
  }
  run.log(`auto-fix: the changes are on branch ${branch}`)
  const after = await runTests(run, folder, stop)
  run.log(`auto-fix: ${failuresIn(before)} test cases failed before, ${failuresIn(after)} after (${after.status})`)
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
    // Cut off by the process's death.
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

/** The end of what a command wrote, as indented lines of the log. */
function quoteOutput({ lastOutput }: CommandEnd): string {
  const lines = lastOutput
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .trim()
  return lines === '' ? '' : `; it wrote last:\n${lines.replace(/^/gm, '    | ')}`
}
