import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FrameworkCall, Unusable } from '../frameworks/framework.ts'
import { type Reading, ReadingThread } from '../frameworks/reading.ts'
import type { Readers } from '../frameworks/reading-thread.ts'
import type { Report, TestCase } from '../frameworks/report.ts'
import type { Progress } from '../frameworks/report-reader.ts'
import type { CommandEnd } from '../machine/command.ts'
import { REPORT_FILE, REPORT_ROOT } from '../reporters/report-writer.ts'
import type { RunContext } from './context.ts'
import { type RunOutcome, toOutcome, withoutTests } from './outcome.ts'
import { runProjectCommand, startOf } from './project-command.ts'

export interface RunningTests {
  /** Undefined if the framework says it only at its end. */
  progress(): Promise<Progress | undefined>
  /** The test cases of a run that is stopped now. */
  testCases(): Promise<readonly TestCase[]>
}

/** Runs the tests once, reads the framework's report, and decides about the outcome. `onTests` is called when the tests begin. */
export async function runFramework(run: RunContext, onTests: (tests: RunningTests) => void): Promise<RunOutcome> {
  const { project, resources, folders, stop, log } = run
  // The name is random, so that the tests of an earlier run in this folder cannot forge the report.
  const reportFile = join(resources.frameworkFolder, `report-${crypto.randomUUID()}`)
  await using thread = new ReadingThread(stop)
  const call = await callOf(run, reportFile, thread)
  if ('kind' in call) return withoutTests(call.reason, call.isOverLimit ? 'FAILED' : 'INTERRUPTED')
  if (call.replacesReporters) {
    const reason = project.command === undefined ? '' : ', because the project has a "command"'
    log(`the service replaces the reporters of the project${reason}`)
  }
  if (call.remark !== undefined) log(call.remark)
  const read = async (end: CommandEnd) => {
    const report = toReport(await readReport(call, end, thread, { file: reportFile, folders }))
    if (report?.remark !== undefined) log(report.remark)
    return report
  }
  const hasNoProgress = call.readReport !== undefined || call.reportsOnlyEnd === true
  onTests({
    progress: hasNoProgress ? async () => undefined : progressOf(thread, reportFile),
    testCases: async () => (await read({ kind: 'stopped', output: '' }))?.testCases ?? [],
  })
  const ended = call.argv && runProjectCommand(run, call.argv, call.env)
  // The thread starts after the tests, because it would delay them.
  if (ended !== undefined) thread.start()
  const end: CommandEnd = (await ended) ?? { kind: 'no-command', output: '' }
  const { noTestsArgument } = project.framework
  const { title, reportsOnlyEnd } = call
  return toOutcome({ title, reportsOnlyEnd, noTestsArgument }, end, await read(end))
}

async function callOf(run: RunContext, reportFile: string, thread: ReadingThread): Promise<FrameworkCall | Unusable> {
  const { checkout, project, resources, folders, selection, personEnv } = run
  const start = startOf(run)
  if (start.kind === 'unusable') return start
  return project.framework.run({
    ...project,
    start,
    selection,
    folders,
    thread,
    personEnv,
    env: { [REPORT_FILE]: reportFile, [REPORT_ROOT]: folders.root },
    outputFolder: resources.filesFolder,
    inputFolder: join(resources.frameworkFolder, 'input'),
    isInPlace: checkout.kind === 'in-place',
  })
}

/** A client that asks how far the run is does not wait long for it. */
const PROGRESS_LIMIT_MS = 500

function progressOf(thread: ReadingThread, file: string): RunningTests['progress'] {
  let reading: Promise<Progress | undefined> | undefined
  const read = async () => {
    const found = await thread.read('progress', { file })
    reading = undefined
    return found.kind === 'read' ? found.value : undefined
  }
  return () => {
    // Clients that ask meanwhile wait for the same reading.
    reading ??= read()
    return Promise.race([reading, delay(PROGRESS_LIMIT_MS, undefined, { ref: false })])
  }
}

async function readReport(
  call: FrameworkCall,
  end: CommandEnd,
  thread: ReadingThread,
  ofReporter: Parameters<Readers['report']>[0],
): Promise<Reading<Report | undefined>> {
  if (call.readReport !== undefined) return call.readReport(end, thread)
  const reading = await thread.read('report', ofReporter)
  if (reading.kind !== 'read' || reading.value === undefined) return reading
  const problem = call.findProblems?.(reading.value).join(', and ') || undefined
  return { kind: 'read', value: { ...reading.value, problem } }
}

/** Undefined if there is no report, or if the run is stopped meanwhile. */
function toReport(reading: Reading<Report | undefined>): Report | undefined {
  if (reading.kind === 'read') return reading.value
  if (reading.kind === 'stopped') return undefined
  // A report over a limit must fail the run, because tests have made it so. With exit code 0, an incomplete report would only interrupt
  // it, and a complete report with a problem fails it.
  return { testCases: [], isComplete: reading.kind === 'over-limit', errors: [], said: [], problem: reading.why }
}
