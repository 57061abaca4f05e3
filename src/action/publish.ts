import type { ReportFile } from '../files/report-files.ts'
import type { When } from '../github/outputs.ts'
import { isOutcomeWithRun, type OutcomeWithRun, type StepOutcome } from '../model/outcome.ts'
import { runDurationMs } from '../model/run.ts'
import { annotations } from '../report/annotations.ts'
import { commentBody } from '../report/comment-body.ts'
import { ctrf } from '../report/ctrf.ts'
import { endingText, verdictLevel, verdictSentences } from '../report/ending.ts'
import { jobSummary } from '../report/job-summary.ts'
import { junit } from '../report/junit.ts'
import { countNew } from '../report/test-case.ts'
import { type Fragment, fragment, html, render, safeJson } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { isReadByRunner } from './abort.ts'
import type { World } from './world.ts'

export interface ReportSettings {
  readonly summary: When
  readonly annotations: boolean
}

/**
 * Publishes the outcome, except its outputs. The verdict comes first, because the runner may kill main before the reports are
 * written. If a report cannot be built or written, that is a warning and does not change the verdict.
 */
export async function publish(outcome: StepOutcome, settings: ReportSettings, world: World): Promise<void> {
  announceVerdict(outcome, world)
  if (settings.annotations && !outcome.success)
    attempt(fragment`annotations of test cases`, world, () => annotateTestCases(outcome, world))
  if (!isReadByRunner(world.signal)) return
  const reportDir = attempt(fragment`report files`, world, () => publishReportFiles(outcome, world))
  const hasSummary = settings.summary === 'always' || (settings.summary === 'on-failure' && !outcome.success)
  if (hasSummary) {
    world.writeSummary((alreadyBytes) => {
      const summary = attempt(fragment`job summary`, world, () => jobSummary(outcome, alreadyBytes, reportDir))
      return summary ?? html``
    })
  }
  // An aborted step has no time for the comment. If this step only started the run, the step that waits for the run writes it.
  if (world.signal.aborted || outcome.ending.kind === 'started') return
  const build = () => attempt(fragment`pull request comment`, world, () => commentBody(outcome))
  const commentUrl = await world.writeComment(build, outcome.success)
  if (commentUrl !== undefined) world.setOutput('comment-url', commentUrl)
}

export function setOutputs(outcome: StepOutcome, world: World): void {
  const { conclusion, cancellation, run, counts } = outcome
  world.setOutput('conclusion', conclusion)
  // The service has confirmed the cancel, so the run is CANCELLED, even if nobody has read it since then.
  const status = cancellation.kind === 'cancelled' ? 'CANCELLED' : run?.status
  if (status !== undefined) world.setOutput('status', status)
  if (run === undefined) return
  const durationMs = runDurationMs(run)
  if (durationMs !== undefined) world.setOutput('duration-ms', durationMs)
  // A PASSED run without results has no test cases. If another run has no results, its counts are not known.
  if (run.testCases === undefined && run.status !== 'PASSED') return
  for (const name of ['total', 'passed', 'failed', 'flaky', 'skipped', 'other'] as const)
    world.setOutput(name, counts[name])
  const newFailures = countNew(outcome)
  if (newFailures !== undefined) world.setOutput('new-failures', newFailures)
  const { comparison } = outcome
  if (comparison === undefined) return
  world.setOutput('added', comparison.added.length)
  world.setOutput('removed', comparison.removed.length)
  world.setOutput('newly-skipped', comparison.newlySkipped.length)
}

function announceVerdict(outcome: StepOutcome, world: World): void {
  const sentences = verdictSentences(outcome)
  const level = verdictLevel(outcome)
  const { filePath: file, line } = outcome.run ?? {}
  if (level === 'info') world.log.info(sentences)
  else world.annotate({ level, title: render(endingText(outcome).title), message: sentences, file, line })
}

function annotateTestCases(outcome: StepOutcome, world: World): void {
  for (const annotation of annotations(outcome)) world.annotate(annotation)
}

/** If a report has a bug, the verdict, the outputs and the other reports must not depend on it. */
function attempt<Result>(report: Fragment, { log }: World, publishReport: () => Result): Result | undefined {
  try {
    return publishReport()
  } catch (cause) {
    log.warning(
      fragment`The ${report} could not be written, because of a bug in the action: ${messageOf(cause)}. The verdict stays as it is. Please report this line.`,
    )
    return undefined
  }
}

function publishReportFiles(outcome: StepOutcome, world: World): string | undefined {
  if (!isOutcomeWithRun(outcome)) return undefined
  const files = reportFiles(outcome)
  const folder = files.length === 0 ? undefined : world.writeReportFiles(files, outcome.runId)
  if (folder !== undefined) world.setOutput('report-dir', folder)
  return folder
}

/** None if the service sent neither results nor a message. */
export function reportFiles(outcome: OutcomeWithRun): readonly ReportFile[] {
  const { testCases, message, responseText } = outcome.run
  if ((testCases === undefined && message === undefined) || responseText === undefined) return []
  return [
    { name: 'results.json', text: safeJson(responseText) },
    { name: 'junit.xml', text: junit(outcome) },
    { name: 'ctrf.json', text: ctrf(outcome) },
  ]
}
