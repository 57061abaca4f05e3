import { countTestCases, runDurationMs } from '../outcome/run.ts'
import type { StepResult } from '../outcome/step-result.ts'
import type { Verdict } from '../outcome/verdict.ts'
import { keyRedaction, resultWithoutKey } from '../outcome/without-key.ts'
import { annotations } from '../report/annotations.ts'
import { jobSummary } from '../report/job-summary.ts'
import { reportFiles } from '../report/report-files.ts'
import { logLine } from '../report/safe-text.ts'
import { verdictSentence, verdictTitle } from '../report/verdict-sentence.ts'
import type { World } from './world.ts'

/** What of the result the user wants to see where. */
export interface ReportSettings {
  /** Kept out of every report, whatever the service echoes. */
  readonly apiKey: string
  readonly summary: 'always' | 'on-failure' | 'never'
  readonly annotations: boolean
}

/**
 * Tells the result everywhere, the most important first: a step that is killed meanwhile has its outputs and its
 * error already. What fails here is a warning and never changes the verdict.
 */
export async function publishResult(result: StepResult, settings: ReportSettings, world: World): Promise<void> {
  setOutputs(result, world)
  const redact = keyRedaction(settings.apiKey)
  const told = resultWithoutKey(result, redact)
  const hasSummary = isSummaryWanted(settings, result.verdict)
  announce(told, settings, hasSummary, world)
  if (hasSummary) world.writeSummary((alreadyBytes) => jobSummary(told, { alreadyBytes }))
  const files = reportFiles(told, redact)
  if (files.length > 0 && result.runId !== undefined) {
    const folder = world.writeReportFiles(files, result.runId)
    if (folder !== undefined) world.setOutput('report-dir', folder)
  }
  // A run that is only started has no result yet, and who waits for it comments on that.
  if (world.abort.aborted || result.ending.kind === 'started') return
  const commentUrl = await world.comment(told, { redact, hasSummary })
  if (commentUrl !== undefined) world.setOutput('comment-url', commentUrl)
}

/** Whether this verdict is to be told in the job summary. */
function isSummaryWanted({ summary }: ReportSettings, { success }: Verdict): boolean {
  return summary === 'always' || (summary === 'on-failure' && !success)
}

function setOutputs({ verdict, run }: StepResult, world: World): void {
  world.setOutput('conclusion', verdict.conclusion)
  if (run === undefined) return
  world.setOutput('status', run.status)
  const durationMs = runDurationMs(run)
  if (durationMs !== undefined) world.setOutput('duration-ms', durationMs)
  // A PASSED run without results has none to count; of any other the numbers are not known.
  const testCases = run.testCases ?? (run.status === 'PASSED' ? [] : undefined)
  if (testCases === undefined) return
  const counts = countTestCases(testCases)
  for (const name of ['total', 'passed', 'failed', 'skipped', 'other'] as const) world.setOutput(name, counts[name])
}

/** The verdict comes first: GitHub keeps the first ten annotations of a step. */
function announce(result: StepResult, settings: ReportSettings, hasSummary: boolean, world: World): void {
  const { verdict, run } = result
  const title = verdictTitle(result)
  const message = verdictSentence(result)
  if (!verdict.success) {
    world.annotate({ level: 'error', title, message })
    if (settings.annotations) for (const annotation of annotations(result, hasSummary)) world.annotate(annotation)
  } else if (run !== undefined && countTestCases(run.testCases ?? []).failed > 0) {
    world.annotate({ level: 'warning', title, message })
  } else {
    world.log.info(logLine`${message}`)
  }
}
