import { html, linesOf, render, untruncated } from '../../../src/text/safe-text.ts'
import { untrusted } from '../../../src/text/untrusted.ts'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import type { FinishedRun } from './service-folder.ts'

// What post writes to the job summary. The gate's summary says why a test failed. Post adds the output of runs that did not
// pass for another reason, for example because the framework could not start.

/** If a summary is larger than 1 MiB, GitHub drops all of it. */
const SIZE_LIMIT_BYTES = 900_000
const OUTPUT_LIMIT_CHARS = 30_000

export interface ShownRun extends FinishedRun {
  readonly message: string
  /** The end of the output, or all of it. */
  readonly output: string
}

/** Markdown for the summary of the job. */
export function describeRuns(runs: readonly ShownRun[]): string {
  let summary = ''
  for (const [index, run] of runs.entries()) {
    const part = describe(run)
    if (Buffer.byteLength(summary + part) > SIZE_LIMIT_BYTES) {
      return `${summary}<p>${runs.length - index} more did not pass. The log of the post step has them.</p>\n`
    }
    summary += part
  }
  return summary
}

function describe({ runId, projectId, status, message, output }: ShownRun): string {
  const end = withoutTerminalSequences(output).trim().slice(-OUTPUT_LIMIT_CHARS)
  const lines = end === '' ? [] : [html`<pre>${linesOf(untrusted(end))}</pre>\n\n`]
  return render(
    html`<h3>Tests of ${projectId}: ${status}</h3>\n\n<p>Run ${runId}. ${untruncated(message)}</p>\n\n${lines}`,
  )
}
