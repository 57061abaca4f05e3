import { type Html, html, linesOf, render, untruncated } from '../../../src/text/safe-text.ts'
import { untrusted } from '../../../src/text/untrusted.ts'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import type { FinishedRun } from '../runs/store.ts'

// What post writes to the job summary, for each run. The gate's summary has the verdict and the test cases. Post adds what the gate's
// summary cannot have: why a run did not pass if no gate has read its result, the output if no test case says why, and auto-fix.

/** If a summary is larger than 1 MiB, GitHub drops all of it. */
const SIZE_LIMIT_BYTES = 900_000
const TEXT_LIMIT_CHARS = 30_000

export interface ShownRun extends FinishedRun {
  /** The end of the output, or all of it. */
  readonly output: string
  /** What auto-fix changed. */
  readonly patch: string
}

/** Markdown for the summary of the job. */
export function describeRuns(runs: readonly ShownRun[]): string {
  const parts = runs.map(describe).filter((part) => part !== '')
  let summary = ''
  for (const [index, part] of parts.entries()) {
    if (Buffer.byteLength(summary + part) > SIZE_LIMIT_BYTES) {
      return `${summary}<p>There is more about ${parts.length - index} more runs. Their output is in the log of the job.</p>\n`
    }
    summary += part
  }
  return summary
}

function describe({ runId, projectId, status, message, fix, isReported, output, patch }: ShownRun): string {
  const end = message === undefined ? '' : withoutTerminalSequences(output).trim().slice(-TEXT_LIMIT_CHARS)
  const parts: Html[] = []
  if (message !== undefined && !isReported) {
    parts.push(html`<h3>Tests of ${projectId}: ${status}</h3>\n\n<p>Run ${runId}. ${untruncated(message)}</p>\n\n`)
  } else if (end !== '') {
    parts.push(html`<h3>End of the output of the tests of ${projectId}</h3>\n\n<p>Run ${runId}.</p>\n\n`)
  }
  if (end !== '') parts.push(html`${linesOf(untrusted(end))}\n\n`)
  if (fix !== undefined)
    parts.push(html`<h3>Auto-fix of ${projectId}</h3>\n\n<p>Run ${runId}. ${untruncated(fix)}</p>\n\n`)
  if (patch !== '' && patch.length <= TEXT_LIMIT_CHARS) {
    parts.push(html`<details><summary>The patch</summary>${linesOf(untrusted(patch))}</details>\n\n`)
  }
  return render(html`${parts}`)
}
