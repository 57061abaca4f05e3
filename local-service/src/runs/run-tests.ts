import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { runInContainer } from '../containers/container.ts'
import type { ContainerEngine } from '../containers/engine.ts'
import type { Framework, Report, ReportPaths, Selection } from '../frameworks/framework.ts'
import { readList, readReport } from '../frameworks/read-report.ts'
import type { Project } from '../project.ts'
import { count, quote, quoteCommand } from '../text.ts'
import { keepChangesSince, takeSnapshot } from '../workspace/auto-fix.ts'
import type { Checkout } from '../workspace/checkout.ts'
import type { RunExclusive } from '../workspace/keyed-mutex.ts'
import { findPackageCommand, usesPlugAndPlay } from '../workspace/packages.ts'
import { prepareFiles, repositoryOf, type Source } from './prepare-files.ts'
import { interruptedBecause, type RunOutcome, type TestCase } from './run.ts'
import { type CommandEnd, runCommand } from './run-command.ts'
import { createRunFolders, isDiskFull, NO_ROOM, type RunResources, saysNoRoom } from './run-resources.ts'
import { findExecutable, withProjectCommands } from './test-environment.ts'

export interface TestRun {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  readonly selection: Selection
  /** The environment of the tests. Their PATH and the variables of the framework's reporter are added later. */
  readonly env: NodeJS.ProcessEnv
  readonly autofix: boolean
  /** Runs the containers. Undefined if the project has no container. */
  readonly engine?: ContainerEngine | undefined
  readonly resources: RunResources
  readonly autofixLimitMs: number
  readonly stopGraceMs: number
  readonly log: (text: string) => void
  /** Runs one task of a repository at a time. git fails if another process has an unfinished work tree there. */
  readonly runExclusive: RunExclusive
}

const BAD_STATUSES: ReadonlySet<string> = new Set(['FAILED', 'TIMEDOUT', 'INTERRUPTED'])

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
    const end = await runIn(source, run, setup, stop)
    if (!hasSucceeded(end)) {
      const problem = (await lacksRoom(run, source, end)) ? NO_ROOM : `${quoteCommand(setup)} ${describeEnd(end)}`
      return interrupt(run, `setup: ${problem}`, end)
    }
  }
  const outcome = await runFramework(run, source, stop)
  if (run.autofix && outcome.status === 'FAILED' && failuresIn(outcome) > 0) {
    finishEarly(outcome)
    await fixWithinLimit(run, source, outcome, stop)
  }
  return outcome
}

/** The outcome of a run whose tests cannot be run. The log says why. If the run was not stopped, clients learn it too. */
function interrupt(run: TestRun, problem: string, end?: CommandEnd): RunOutcome {
  run.log(`${problem}${end === undefined ? '' : quoteOutput(end)}`)
  const shown = end?.kind === 'stopped' ? undefined : problem
  return { ...interruptedBecause(shown), output: end?.output }
}

async function runFramework(run: TestRun, source: Source, stop: AbortSignal): Promise<RunOutcome> {
  const { framework } = run.project
  const command = run.project.command ?? frameworkCommand(run, source)
  if (command === undefined) return interrupt(run, describeMissing(run, source))
  const { outputFolder } = run.resources
  const call = async (
    argumentsFor: (paths: ReportPaths) => string[],
    { frameworkProjects, files, titles }: Selection,
  ) => {
    // Playwright empties its output folder, so the report lies beside it. Tests cannot know the report file of another call.
    const reportFile = join(outputFolder, `report-${randomUUID()}`)
    const paths = { reportFile, outputFolder: join(outputFolder, 'files') }
    const projects = frameworkProjects.map((name) => `--project=${name}`)
    const titled = titles === undefined ? [] : [`${framework.titleOption}=${titles}`]
    const argv = [...command, ...argumentsFor(paths), ...files, ...projects, ...titled]
    return { reportFile, end: await runIn(source, run, argv, stop, framework.env(paths)) }
  }
  const { end: tested, reportFile } = await call(framework.runArguments, run.selection)
  const report = await readReportOf(run, reportFile, join(source.root, source.folder))
  const list = async (...frameworkProjects: string[]) => {
    const listed = await call(framework.listArguments, { frameworkProjects, files: [] })
    return hasSucceeded(listed.end) ? readList(framework, listed.reportFile) : undefined
  }
  const unknown =
    (await describeUnknownProjects(run, tested, report, list)) ?? describeUnknownTitles(run, tested, report)
  // If the run was stopped, the search for unknown names may be incomplete. So `end` becomes `stopped`.
  const end: CommandEnd = stop.aborted ? { ...tested, kind: 'stopped' } : tested
  const unknownNames = stop.aborted ? undefined : unknown
  const outcome = toOutcome(end, report, unknownNames)
  if (outcome.status === 'PASSED') return outcome
  const isFull = await lacksRoom(run, source, end, report)
  const problem = isFull ? NO_ROOM : (unknownNames ?? describeProblem(framework, end, report))
  run.log(`${problem ?? `${framework.name} ${describeEnd(end)}`}${quoteOutput(end)}`)
  const status = isFull ? 'INTERRUPTED' : outcome.status
  return { ...outcome, status, problem: end.kind === 'stopped' ? undefined : problem, output: end.output }
}

/**
 * Whether a command may have failed because a disk was full. There may be room again now, so the command's output counts
 * too.
 */
async function lacksRoom(run: TestRun, source: Source, end: CommandEnd, report?: Report): Promise<boolean> {
  const { outputFolder, temporaryFolder } = run.resources
  if (end.kind === 'stopped') return false
  if (report === undefined && saysNoRoom(end.output)) return true
  return isDiskFull([join(source.root, source.folder), outputFolder, temporaryFolder])
}

/** Finds requested names that no framework project has. */
async function describeUnknownProjects(
  { selection: { frameworkProjects: names }, project: { framework } }: TestRun,
  end: CommandEnd,
  report: Report | undefined,
  list: ListProjects,
): Promise<string | undefined> {
  const couldBeUnknown = report === undefined && couldNotRun(end) && names.length > 0
  const withoutProject = end.kind === 'exited' ? await namesWithoutProject(names, report, list) : []
  if (withoutProject.length === 0 && !couldBeUnknown) return undefined
  const existing = await list()
  const unknown = couldBeUnknown ? namesNotListed(names, existing) : withoutProject
  if (unknown.length === 0) return undefined
  const known = existing?.toSorted().map(quote).join(', ') || 'none'
  return `${framework.name} has no project ${unknown.map(quote).join(', ')}. Its projects: ${known}`
}

/** The names of all or the selected framework projects. Undefined if the framework cannot list them. */
type ListProjects = (...frameworkProjects: string[]) => Promise<string[] | undefined>

/**
 * Vitest ignores an unknown name beside a valid name. So the service asks the framework about each name that has no tested
 * file.
 */
async function namesWithoutProject(
  names: readonly string[],
  report: Report | undefined,
  list: ListProjects,
): Promise<string[]> {
  const tested = report?.frameworkProjects
  if (tested === undefined || names.length < 2) return []
  const unknown: string[] = []
  for (const name of names) if (!tested.includes(name) && (await list(name)) === undefined) unknown.push(name)
  return unknown
}

/** A list holds no patterns, so a pattern does not count as unknown. */
function namesNotListed(names: readonly string[], listed: readonly string[] | undefined): string[] {
  return names.filter((name) => listed?.includes(name) === false && !/[*!]/.test(name))
}

/** Vitest lists the tests with other titles as skipped, and exits with 0 even if there are no other tests. */
function describeUnknownTitles(
  { selection: { titles }, project: { framework } }: TestRun,
  end: CommandEnd,
  report: Report | undefined,
): string | undefined {
  if (titles === undefined || end.kind !== 'exited' || !report?.isComplete) return undefined
  const { name, skipsOtherTitles } = framework
  const hasTests = report.testCases.some(({ status }) => !skipsOtherTitles || status !== 'SKIPPED')
  if (hasTests) return undefined
  return `${name} found no tests with the titles ${quote(titles)}${skipsOtherTitles ? ', or skipped all of them' : ''}`
}

/** Why the tests could not be run, or not to the end. Undefined if a test case already shows why the run did not pass. */
function describeProblem({ name }: Framework, end: CommandEnd, report: Report | undefined): string | undefined {
  const what = `${name} ${describeEnd(end)}`
  if (end.kind !== 'exited') return what
  if (report === undefined) {
    return couldNotRun(end) ? `${what} without a report: it could not run the tests` : `${what} without a report`
  }
  if (report.problem !== undefined) return report.problem
  if (!report.isComplete) return `${what} before it had run all tests`
  if (report.testCases.length === 0) return `${name} found no tests`
  return report.testCases.some(isBad) ? undefined : `${what}, although no test failed`
}

/** If the run has a setup, the setup must install the framework. Otherwise a person must install it. */
function describeMissing({ project, checkout }: TestRun, { folder, needsSetup }: Source): string {
  const place = needsSetup ? `the work tree, in ${folder || 'its root'}` : project.folder
  const remedy = needsSetup ? 'Let "setup" install' : 'Install'
  const missing = `${project.framework.packageName} is not installed in ${place}. ${remedy} it, or set "command".`
  if (!usesPlugAndPlay(checkout.place)) return missing
  return (
    `${missing} Yarn uses Plug'n'Play here: for a branch, commit .pnp.cjs or set "setup" to ["yarn", "install"]; ` +
    'for a container, set "nodeLinker: node-modules" in .yarnrc.yml.'
  )
}

function frameworkCommand(run: TestRun, source: Source): string[] | undefined {
  const { framework, node: chosen } = run.project
  // What a setup installs in a container may be a link out of the work tree. Without a setup, a person installed the packages.
  const within = source.needsSetup && run.engine !== undefined ? source.root : undefined
  const script = findPackageCommand(framework.packageName, source.needsSetup ? source : run.checkout.place, within)
  if (script === undefined) {
    // The project may have a script of this name, so Yarn is asked for a program only.
    const isThroughYarn = run.engine === undefined && usesPlugAndPlay(source)
    return isThroughYarn ? ['yarn', 'run', '--binaries-only', framework.name] : undefined
  }
  if (run.engine !== undefined) return ['node', script]
  const node = chosen ?? findExecutable('node', environmentIn(source, run))
  // PATH may have no Node, because a person can start the service by the path of its Node.
  return [node ?? process.execPath, script]
}

function runIn(
  source: Source,
  run: TestRun,
  argv: readonly string[],
  stop: AbortSignal,
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, stopGraceMs, engine } = run
  const settings = run.project.container
  const base = { argv, folder: join(source.root, source.folder), runId, stopGraceMs }
  if (engine === undefined || settings === undefined) {
    return runCommand({ ...base, env: { ...environmentIn(source, run), ...variables } }, stop)
  }
  const env = { ...run.env, ...variables }
  const startedFile = join(run.resources.runFolder, 'started')
  const container = { engine, settings, mounts: source.mounts, folder: run.project.folder, startedFile }
  return runInContainer(container, { ...base, env }, stop)
}

function environmentIn(source: Source, { env, project }: TestRun): NodeJS.ProcessEnv {
  return withProjectCommands(env, source, project.node)
}

/** From this exit code on, a shell says that a signal ended its command. */
const FIRST_SIGNAL_CODE = 128

/**
 * If the framework exits after a complete report, the run is PASSED or FAILED. If there is no report, and the exit code
 * says that the framework could not run the tests, the run is FAILED. Otherwise the run is INTERRUPTED.
 */
function toOutcome(end: CommandEnd, report: Report | undefined, unknownNames: string | undefined): RunOutcome {
  const testCases = report?.testCases ?? []
  if (report === undefined && couldNotRun(end)) return { status: 'FAILED', testCases }
  if (end.kind !== 'exited' || !report?.isComplete) return { status: 'INTERRUPTED', testCases }
  // Without a test case, a framework exits with 0 only if it is configured to.
  const passed = unknownNames === undefined && end.code === 0 && !testCases.some(isBad)
  return { status: passed ? 'PASSED' : 'FAILED', testCases }
}

async function readReportOf({ project, log }: TestRun, file: string, folder: string): Promise<Report | undefined> {
  const { framework } = project
  try {
    return await readReport(framework, file, folder)
  } catch (error) {
    // Tests may have put anything in place of the report.
    log(`the report of ${framework.name} cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

/** Clients already see the run as finished, so the limit of the run no longer applies. Auto-fix has its own limit. */
async function fixWithinLimit(run: TestRun, source: Source, before: RunOutcome, stop: AbortSignal): Promise<void> {
  const limit = new AbortController()
  const timer = setTimeout(() => {
    run.log(`auto-fix: exceeded its limit of ${run.autofixLimitMs / 60_000} min; stopping it`)
    limit.abort()
  }, run.autofixLimitMs)
  try {
    await fix(run, source, before, AbortSignal.any([stop, limit.signal]))
  } finally {
    clearTimeout(timer)
  }
}

async function fix(run: TestRun, source: Source, before: RunOutcome, stop: AbortSignal): Promise<void> {
  const { checkout, runId, resources } = run
  const { autofix } = run.project
  if (autofix === undefined) {
    run.log('auto-fix: not tried, the project has no "autofix" command')
    return
  }
  if (checkout.kind !== 'work-tree') {
    run.log('auto-fix: not tried, the project is in no git repository with a commit')
    return
  }
  const repository = repositoryOf(run, checkout.place, stop)
  const { tree: folder, runFolder } = resources
  const tree = { repository, commit: checkout.commit, tree: folder, ownFolder: runFolder, runId }
  const snapshot = await takeSnapshot(tree)
  const end = await runIn(source, run, autofix, stop)
  run.log(`auto-fix: ${quoteCommand(autofix)} ${describeEnd(end)}${hasSucceeded(end) ? '' : quoteOutput(end)}`)
  // A stopped command made only some of its changes. A command that exits with an error may still have fixed something.
  if (end.kind === 'stopped' || end.kind === 'lost') return
  const branch = await keepChangesSince(snapshot, tree)
  if (branch === undefined) {
    run.log('auto-fix: nothing was changed, so there is no branch')
    return
  }
  run.log(`auto-fix: the changes are on branch ${branch}`)
  const after = await runFramework(run, source, stop)
  run.log(
    `auto-fix: ${count(failuresIn(before), 'test case')} failed before, ${failuresIn(after)} after (${after.status})`,
  )
}

function couldNotRun(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code > 0 && end.code < FIRST_SIGNAL_CODE
}

function hasSucceeded(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code === 0
}

function failuresIn({ testCases }: RunOutcome): number {
  return testCases.filter(isBad).length
}

function isBad({ status }: TestCase): boolean {
  return BAD_STATUSES.has(status)
}

function describeEnd(end: CommandEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exited with code ${end.code}`
    case 'killed':
      return `was killed by ${end.signal}`
    case 'not-started':
      return `could not be started: ${end.reason}`
    case 'unrunnable':
      return `exited with code ${end.code}: ${end.reason}`
    case 'lost':
      return `was lost: ${end.reason}`
    case 'stopped':
      return 'was stopped'
  }
}

function quoteOutput({ output }: CommandEnd): string {
  const text = output.trim()
  return text === '' ? '' : `; its output:\n${text}`
}
