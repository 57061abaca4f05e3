import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { UnusableReports } from '../frameworks/blob-reports.ts'
import type { FrameworkCall } from '../frameworks/framework.ts'
import { type Reading, ReadingThread } from '../frameworks/reading.ts'
import { type Report, toReport as reportOf } from '../frameworks/report.ts'
import { type Progress, ReportReader } from '../frameworks/report-reader.ts'
import type { CommandEnd } from '../machine/command.ts'
import type { TestedFolders } from '../machine/files.ts'
import { REPORT_FILE, REPORT_ROOT } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import { type RunContext, tell } from './context.ts'
import { type RunOutcome, type StopReason, toOutcome, withoutTests } from './outcome.ts'
import { runProjectCommand, startOf } from './project-command.ts'

export interface RunningTests {
  /** Undefined if the framework says it only at its end. */
  progress(): Progress | undefined
  /** The outcome if the run is stopped now, for this reason. */
  stopped(reason: StopReason): Promise<RunOutcome>
}

/** Runs the tests once, reads the framework's report, and decides about the outcome. `onTests` is called when the tests begin. */
export async function runFramework(
  run: RunContext,
  source: TestedFolders,
  stop: AbortSignal,
  onTests: (tests: RunningTests) => void,
): Promise<RunOutcome> {
  const { project, resources } = run
  // The name is random, so that the tests of an earlier run in this folder cannot forge the report.
  const reportFile = join(resources.frameworkFolder, `report-${randomUUID()}`)
  const call = await callOf(run, source, reportFile)
  if (typeof call === 'string') return withoutTests(stop, call)
  if (call.replacesReporters) {
    const reason = project.command === undefined ? '' : ', because the project has a "command"'
    tell(run, `the service replaces the reporters of the project${reason}`)
  }
  if (call.remark !== undefined) tell(run, call.remark)
  const caller = { title: call.title, noTestsArgument: project.framework.noTestsArgument }
  const reader = new ReportReader(reportFile)
  await using thread = new ReadingThread(stop)
  if (call.readReport !== undefined) thread.start()
  const outcomeOf = async (end: CommandEnd, reason: StopReason | undefined) => {
    const reading = await readReport(call, end, reader, source, thread)
    if (reading.kind === 'stopped') return withoutTests(stop)
    return toOutcome(caller, end, toReport(reading), reason)
  }
  onTests({
    progress: () => (call.readReport === undefined && !call.reportsOnlyEnd ? reader.readProgress() : undefined),
    stopped: (reason) => outcomeOf({ kind: 'stopped', output: '' }, reason),
  })
  const end: CommandEnd =
    call.argv === undefined
      ? { kind: 'no-command', output: '' }
      : await runProjectCommand(source, run, call.argv, stop, call.env)
  return outcomeOf(end, end.kind === 'stopped' ? stop.reason : undefined)
}

/** If the framework cannot be called, returns sentences that say why. */
async function callOf(run: RunContext, source: TestedFolders, reportFile: string): Promise<FrameworkCall | string> {
  const { checkout, project, resources, selection } = run
  const start = startOf(run, source)
  if (typeof start === 'string') return start
  const options = {
    ...project,
    start,
    selection,
    folders: source,
    env: { [REPORT_FILE]: reportFile, [REPORT_ROOT]: source.root },
    outputFolder: resources.filesFolder,
    inputFolder: join(resources.frameworkFolder, 'input'),
    isInPlace: checkout.kind === 'in-place',
  }
  return project.framework.run(options).catch((error: unknown) => {
    if (error instanceof UnusableReports)
      return `The reports cannot be merged: the folder ${quote(project.merge)} ${error.message}.`
    throw error
  })
}

async function readReport(
  call: FrameworkCall,
  end: CommandEnd,
  reader: ReportReader,
  source: TestedFolders,
  thread: ReadingThread,
): Promise<Reading<Report | undefined>> {
  try {
    if (call.readReport !== undefined) return await call.readReport(end, thread)
    const events = reader.readAll()
    const report = reportOf(events, source)
    const problems = report && call.findProblems?.(report, events.finished ?? {})
    const problem = problems?.filter((one) => one !== undefined).join(', and ') || undefined
    return { kind: 'read', value: report && { ...report, problem } }
  } catch (error) {
    // Tests may have put anything in place of the report.
    return { kind: 'failed', why: `its report cannot be read: ${messageOf(error)}` }
  }
}

/** A report over a limit fails the run, because tests have made it so. */
function toReport(reading: Exclude<Reading<Report | undefined>, { kind: 'stopped' }>): Report | undefined {
  if (reading.kind === 'read') return reading.value
  return { testCases: [], isComplete: reading.kind === 'over-limit', errors: [], said: [], problem: reading.why }
}
