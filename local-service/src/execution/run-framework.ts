import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { UnusableReports } from '../frameworks/blob-reports.ts'
import type { FrameworkCall } from '../frameworks/framework.ts'
import { type Report, toReport } from '../frameworks/report.ts'
import { type Progress, ReportReader } from '../frameworks/report-reader.ts'
import { type CommandEnd, describeEnd } from '../machine/command.ts'
import type { TestedFolders } from '../machine/paths.ts'
import { REPORT_FILE, REPORT_ROOT } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import { type RunContext, tell } from './context.ts'
import { type RunOutcome, type StopReason, toOutcome, withoutTests } from './outcome.ts'
import { frameworkProgram, runProjectCommand } from './project-command.ts'
import { filesFolderOf, frameworkFolderOf } from './resources.ts'

/** Tests that run, as the queue sees them. */
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
  const program = frameworkProgram(run, source)
  if (typeof program === 'string') {
    run.log(program)
    return withoutTests(stop, program)
  }
  const { checkout, project, resources, selection } = run
  const { framework } = project
  // The name is random, so that the tests of an earlier run in this folder cannot forge the report.
  const reportFile = join(frameworkFolderOf(resources), `report-${randomUUID()}`)
  const isInPlace = checkout.kind === 'in-place'
  const call = await callOf(run, () =>
    framework.run(program, {
      ...project,
      folders: source,
      env: { [REPORT_FILE]: reportFile, [REPORT_ROOT]: source.root },
      outputFolder: filesFolderOf(resources),
      mergeFolder: join(frameworkFolderOf(resources), 'merge'),
      isInPlace,
    }),
  )
  if (typeof call === 'string') return withoutTests(stop, call)
  if (call.replacesReporters) {
    const reason = project.command === undefined ? '' : ', because the project has a "command"'
    tell(run, `the service replaces the reporters of the project${reason}`)
  }
  const projectOptions = selection.frameworkProjects.map((name) => `--project=${name}`)
  // Behind a `--` of the project's arguments, nothing is an option.
  const args = [...projectOptions, ...selection.files, ...project.args]
  const caller = { name: call.title ?? framework.name, noTestsArgument: framework.noTestsArgument }
  const reader = call.readReport === undefined ? new ReportReader(reportFile) : undefined
  const read = (end: CommandEnd) => readReport(call, end, () => reader && toReport(reader.readAll(), source))
  onTests({
    progress: () => reader?.readProgress(),
    async stopped(reason) {
      const end: CommandEnd = { kind: 'stopped', output: '' }
      return toOutcome(caller, end, await read(end), reason)
    },
  })
  const end: CommandEnd =
    call.argv.length === 0
      ? { kind: 'exited', code: 0, output: '' }
      : await runProjectCommand(source, run, [...call.argv, ...args], stop, call.env)
  const outcome = toOutcome(caller, end, await read(end), end.kind === 'stopped' ? stop.reason : undefined)
  if (outcome.status !== 'PASSED') run.log(outcome.message ?? `${caller.name} ${describeEnd(end)}`)
  return outcome
}

/** If the reports of shards cannot be merged, returns a sentence that says why. */
async function callOf(
  { project, log }: RunContext,
  call: () => FrameworkCall | Promise<FrameworkCall>,
): Promise<FrameworkCall | string> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof UnusableReports)) throw error
    const reason = `There is nothing to merge: the folder ${quote(project.merge)} ${error.message}.`
    log(reason)
    return reason
  }
}

async function readReport(
  call: FrameworkCall,
  end: CommandEnd,
  readOwn: () => Report | undefined,
): Promise<Report | undefined> {
  try {
    return call.readReport === undefined ? readOwn() : await call.readReport(end)
  } catch (error) {
    // Tests may have put anything in place of the report.
    const problem = `its report cannot be read: ${messageOf(error)}`
    return { testCases: [], isComplete: false, errors: [], said: [], problem }
  }
}
