import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { whyScriptDiffers } from '../checkout/script.ts'
import type { FrameworkCall } from '../frameworks/framework.ts'
import { whyNotPassed } from '../frameworks/reason.ts'
import { type Report, type TestedFolders, toMessage, toReport } from '../frameworks/report.ts'
import { isBad } from '../frameworks/test-case.ts'
import { type CommandEnd, describeEnd, hasFailed } from '../machine/command.ts'
import { REPORT_FILE, REPORT_ROOT } from '../reporters/report-writer.ts'
import { type RunContext, tell } from './context.ts'
import { interruptedBecause, type RunOutcome } from './outcome.ts'
import { frameworkProgram, runProjectCommand } from './project-command.ts'
import { filesFolderOf, isDiskFull, NO_ROOM } from './resources.ts'

// The tests in local-service/test/frameworks test this file.

/** Runs the tests once, reads the framework's report, and decides about the outcome. */
export async function runFramework(run: RunContext, source: TestedFolders, stop: AbortSignal): Promise<RunOutcome> {
  const program = frameworkProgram(run, source)
  if (typeof program === 'string') return interrupt(run, program)
  const { checkout, project, resources, selection } = run
  const { framework } = project
  // The name is random, so that the tests of an earlier run in this folder cannot forge the report.
  const reportFile = join(resources.frameworkFolder, `report-${randomUUID()}`)
  const isInPlace = checkout.kind === 'in-place'
  const call = await framework.run(program, {
    folders: source,
    report: project.report,
    env: { [REPORT_FILE]: reportFile, [REPORT_ROOT]: source.root },
    outputFolder: filesFolderOf(resources),
    isInPlace,
  })
  if (call.replacesReporters) {
    const reason = project.command === undefined ? '' : ', because the project has a "command"'
    tell(run, `the service replaces the reporters of the project${reason}`)
  }
  const projectOptions = selection.frameworkProjects.map((name) => `--project=${name}`)
  // Behind a `--` of the project's arguments, nothing is an option.
  const args = [...projectOptions, ...selection.files, ...project.args]
  const difference = project.command === undefined ? whyScriptDiffers(framework.name, source.folder, args) : undefined
  if (difference !== undefined) tell(run, difference)
  if (call.readReport === undefined) run.report.follow(reportFile)
  const end = await runProjectCommand(source, run, [...call.argv, ...args], stop, call.env)
  const report = await readReportOf(run, source, call, end)
  const outcome = toOutcome(end, report)
  if (outcome.status === 'PASSED') return outcome
  const name = call.title ?? framework.name
  const isFull = report?.isComplete !== true && end.kind !== 'stopped' && (await isDiskFull(resources, source.folder))
  const reason = isFull ? NO_ROOM : whyNotPassed(name, framework, end, report)
  run.log(reason ?? `${name} ${describeEnd(end)}`)
  const status = isFull ? 'INTERRUPTED' : outcome.status
  const message = end.kind === 'stopped' || reason === undefined ? undefined : toMessage(reason)
  return { ...outcome, status, message }
}

/** The outcome of a run whose tests cannot be run. The log and the clients get the reason. */
export function interrupt(run: RunContext, reason: string): RunOutcome {
  run.log(reason)
  return interruptedBecause(reason)
}

/**
 * If the report is complete and the process exited, the run is PASSED or FAILED. If the process exited with 1 to 127 before any
 * test, the run is FAILED. In every other case, it is INTERRUPTED.
 */
function toOutcome(end: CommandEnd, report: Report | undefined): RunOutcome {
  const testCases = report?.testCases ?? []
  if (report?.isComplete !== true) {
    return { status: hasFailed(end) && testCases.length === 0 ? 'FAILED' : 'INTERRUPTED', testCases }
  }
  if (end.kind !== 'exited') return { status: 'INTERRUPTED', testCases }
  // Without a test case, a framework exits with 0 only if it is configured to.
  return { status: end.code === 0 && !testCases.some(isBad) ? 'PASSED' : 'FAILED', testCases }
}

async function readReportOf(
  { report }: RunContext,
  source: TestedFolders,
  call: FrameworkCall,
  end: CommandEnd,
): Promise<Report | undefined> {
  try {
    return call.readReport === undefined ? toReport(report.readAll(), source) : await call.readReport(end)
  } catch (error) {
    // Tests may have put anything in place of the report.
    const problem = `its report cannot be read: ${messageOf(error)}`
    return { testCases: [], isComplete: false, errors: [], said: '', problem }
  }
}
