import { type Html, html, linesOf, render, untruncated } from '../../../src/text/safe-text.ts'
import { untrusted } from '../../../src/text/untrusted.ts'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import type { FinishedRun } from '../runs/store.ts'

// What post writes to the job summary, for each run. The gate's summary has the verdict and the test cases. Post adds what the gate's
// summary cannot have: why a run did not pass if no gate has read its result, the output if no test case says why, and auto-fix.

/** If a summary is larger than 1 MiB, GitHub drops all of it. */
const SIZE_LIMIT_BYTES = 900_000
const TEXT_LIMIT_CHARS = 30_000

/** Returns the end of a file of a run, or all of it. */
type ReadOutput = (runId: string, file: string) => string

/** Markdown for the summary of the job. */
export function describeRuns(runs: readonly FinishedRun[], read: ReadOutput): string {
  let summary = ''
  for (const run of runs) {
    const section = describe(run, read)
    if (Buffer.byteLength(summary + section) > SIZE_LIMIT_BYTES) {
      return `${summary}<p>Further runs are left out. Their output is in the log of the job.</p>\n`
    }
    summary += section
  }
  return summary
}

function describe({ runId, projectId, status, message, fix, isReported }: FinishedRun, read: ReadOutput): string {
  const parts: Html[] = []
  if (message !== undefined) {
    if (!isReported) parts.push(html`<p>${untruncated(message)}</p>\n\n`)
    const end = withoutTerminalSequences(read(runId, 'output.txt')).trim().slice(-TEXT_LIMIT_CHARS)
    if (end !== '') parts.push(html`<p>The end of the output:</p>\n\n${linesOf(untrusted(end))}\n\n`)
  }
  if (fix !== undefined) {
    parts.push(html`<p>Auto-fix: ${untruncated(fix)}</p>\n\n`)
    const patch = read(runId, 'fix.patch')
    if (patch !== '' && patch.length <= TEXT_LIMIT_CHARS)
      parts.push(html`<details><summary>The patch</summary>${linesOf(untrusted(patch))}</details>\n\n`)
  }
  if (parts.length === 0) return ''
  return render(html`<h3>Tests of ${projectId}: ${status}</h3>\n\n<p>Run ${runId}.</p>\n\n${parts}`)
}
