import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { ProjectPlace } from '../checkout/repository.ts'
import { whyScriptDiffers } from '../checkout/script.ts'
import { findCrash, findNoMemory, findSaidError, findStartError, lastParagraph } from '../frameworks/error-in-output.ts'
import type { Framework, FrameworkCall } from '../frameworks/framework.ts'
import { type Report, toMessage } from '../frameworks/report.ts'
import { isBad } from '../frameworks/test-case.ts'
import { type CommandEnd, describeEnd, hasFailed } from '../machine/command.ts'
import { REPORT_FILE, REPORT_ROOT } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import { type RunContext, tell } from './context.ts'
import { filesFolderOf, isDiskFull, NO_ROOM } from './leftovers.ts'
import { interruptedBecause, type RunOutcome } from './outcome.ts'
import { describeMissing, frameworkProgram, runProjectCommand, whyTooOld } from './project-command.ts'

// The tests in local-service/test/frameworks test this file.

/** Runs the tests once, reads the framework's report, and decides about the outcome. */
export async function runFramework(run: RunContext, source: ProjectPlace, stop: AbortSignal): Promise<RunOutcome> {
  const tooOld = whyTooOld(run, source)
  if (tooOld !== undefined) return interrupt(run, tooOld)
  const program = frameworkProgram(run, source)
  if (program === undefined) return interrupt(run, describeMissing(run, source))
  const { checkout, project, resources, selection } = run
  const { framework } = project
  // The name is random, so that the tests of an earlier run in this folder cannot forge the report.
  const reportFile = join(resources.outputFolder, `report-${randomUUID()}`)
  const isInPlace = checkout.kind === 'in-place'
  const call = await framework.run(program, {
    folders: { root: source.root, folder: join(source.root, source.folder) },
    reportFile,
    reader: run.report,
    report: project.report,
    env: { [REPORT_FILE]: reportFile, [REPORT_ROOT]: source.root },
    outputFolder: filesFolderOf(resources),
    isInPlace,
  })
  if (isInPlace && call.replacesReporters) {
    const reason = project.command === undefined ? '' : ', because the project has a "command"'
    tell(run, `the service replaces the reporters of the project${reason}`)
  }
  const projectOptions = selection.frameworkProjects.map((name) => `--project=${name}`)
  // Behind a `--` of the project's arguments, nothing is an option.
  const args = [...projectOptions, ...selection.files, ...project.args]
  const difference = project.command === undefined ? whyScriptDiffers(framework.name, source, args) : undefined
  if (difference !== undefined) tell(run, difference)
  const end = await runProjectCommand(source, run, [...call.argv, ...args], stop, call.env)
  const report = await readReportOf(run, call)
  const unknown = whyUnknownProjects(run, report)
  const outcome = toOutcome(end, report, unknown)
  if (outcome.status === 'PASSED') return outcome
  const name = call.title ?? framework.name
  const isFull = end.kind !== 'stopped' && (await lacksRoom(run, source))
  const reason = isFull
    ? NO_ROOM
    : (unknown ?? whyNotPassed({ ...framework, name, command: project.command }, end, report))
  run.log(reason ?? `${name} ${describeEnd(end)}`, end)
  const status = isFull ? 'INTERRUPTED' : outcome.status
  const message = end.kind === 'stopped' || reason === undefined ? undefined : toMessage(reason)
  return { ...outcome, status, message }
}

/** Vitest ignores an unknown name beside a known name. It compares names as here, and a name may be a pattern such as `a*`. */
function whyUnknownProjects({ selection, project: { framework } }: RunContext, report?: Report): string | undefined {
  const known = report?.frameworkProjects?.map((name) => name.toLowerCase())
  if (known === undefined) return undefined
  const unknown = selection.frameworkProjects.filter(
    (name) => !/[*!]/.test(name) && !known.includes(name.toLowerCase()),
  )
  const names = report?.frameworkProjects?.map(quote).join(', ')
  return unknown.length === 0
    ? undefined
    : `${framework.name} has no project ${unknown.map(quote).join(', ')}. It found ${names}.`
}

/** The outcome of a run whose tests cannot be run. The log has the reason. Clients get it too, unless the run was stopped. */
export function interrupt(run: RunContext, reason: string, end?: CommandEnd): RunOutcome {
  run.log(reason, end)
  return interruptedBecause(end?.kind === 'stopped' ? undefined : reason)
}

/** Whether there is no room now on a disk that the run uses. */
export function lacksRoom({ resources }: RunContext, source: ProjectPlace): Promise<boolean> {
  const { outputFolder, temporaryFolder } = resources
  return isDiskFull([join(source.root, source.folder), outputFolder, temporaryFolder])
}

/** Why the run as a whole did not pass. Undefined if the test cases say everything. */
function whyNotPassed(
  {
    name,
    noTestsArgument,
    findMissing,
    findLastError = lastParagraph,
    command,
  }: Omit<Framework, 'name'> & { readonly name: string; readonly command?: readonly string[] | undefined },
  end: CommandEnd,
  report?: Report,
): string | undefined {
  const what = `${name} ${describeEnd(end)}`
  const { output } = end
  const noMemory = findNoMemory(output)
  if (end.kind !== 'exited') return withError(what, noMemory)
  const couldNotRun = (error: string | undefined) => error && `${name} could not run the tests: ${error}`
  if (report === undefined) {
    if (!hasFailed(end)) return withError(`${what} without a report`, noMemory)
    // A command of the project may print something that is secret.
    const lastWords = command === undefined ? lastParagraph(output) : undefined
    const error = findStartError(output) ?? noMemory ?? lastWords
    return couldNotRun(error) ?? `${what} without a report: it could not run the tests`
  }
  if (report.problem !== undefined)
    return withError(`${what}, and ${report.problem}`, noMemory ?? (end.code === 0 ? undefined : findLastError(output)))
  const missing = findMissing?.(report)
  if (missing !== undefined) return missing
  const outsideTests = report.errors.length === 0 ? undefined : report.errors.join('\n\n')
  const error = outsideTests ?? findSaidError(report.said)
  if (!report.isComplete && report.testCases.length === 0) return couldNotRun(error) ?? withError(what, noMemory)
  if (!report.isComplete)
    return withError(`${what} before it had reported all tests`, noMemory ?? error ?? findCrash(output))
  if (report.testCases.length === 0 && noTestsArgument !== undefined)
    return (
      couldNotRun(outsideTests ?? findStartError(report.said)) ??
      `${name} found no tests. If you expect that, add ${noTestsArgument} to its arguments, and set the gate's input pass-with-no-tests to true.`
    )
  if (report.testCases.some(isBad))
    return outsideTests && withError(`${name} reported an error outside the tests: ${outsideTests}`, noMemory)
  return withError(`${what}, although no test failed`, noMemory ?? error ?? findLastError(output))
}

function withError(what: string, error: string | undefined): string {
  return error === undefined ? what : `${what}: ${error}`
}

/**
 * If the framework exits after a complete report, the run is PASSED or FAILED. If no test began, and the exit code says that the
 * framework could not run the tests, the run is FAILED. Otherwise the run is INTERRUPTED.
 */
function toOutcome(end: CommandEnd, report: Report | undefined, unknownProjects: string | undefined): RunOutcome {
  const testCases = report?.testCases ?? []
  if (report?.isComplete !== true) {
    return { status: hasFailed(end) && testCases.length === 0 ? 'FAILED' : 'INTERRUPTED', testCases }
  }
  if (end.kind !== 'exited') return { status: 'INTERRUPTED', testCases }
  // Without a test case, a framework exits with 0 only if it is configured to.
  const passed = unknownProjects === undefined && end.code === 0 && !testCases.some(isBad)
  return { status: passed ? 'PASSED' : 'FAILED', testCases }
}

async function readReportOf({ project, log }: RunContext, call: FrameworkCall): Promise<Report | undefined> {
  try {
    return await call.readReport()
  } catch (error) {
    // Tests may have put anything in place of the report.
    log(`the report of ${project.framework.name} cannot be read: ${messageOf(error)}`)
    return undefined
  }
}
