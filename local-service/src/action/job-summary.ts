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

/**
 * All text is untrusted, because tests may have written to the files that a run comes from. The text stands escaped in
 * `<code>` in a block of HTML. There, GitHub looks for no Markdown, mentions and links.
 */
function describe({ runId, projectId, status, message, output }: ShownRun): string {
  const text = output.trim().slice(-OUTPUT_LIMIT_CHARS)
  const blocks = [
    `<h3>Tests of ${code(projectId)}: ${code(status)}</h3>`,
    `<p>Run ${code(runId)}. ${code(message)}</p>`,
    ...(text === '' ? [] : [`<pre>${block(text)}</pre>`]),
  ]
  return blocks.map((html) => `${html}\n\n`).join('')
}

/** Puts the text on one line, because a blank line would end the block. */
function code(text: string): string {
  return block(text.replaceAll(/\s+/g, ' '))
}

function block(text: string): string {
  return `<code>${escapeHtml(text.replace(INVISIBLE, ' '))}</code>`
}

/** Controls except line breaks and tabs, bidi and zero-width characters, line separators, lone surrogates. */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--[\n\t]]/gv

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** The runner masks a secret as it stands, and with all five characters escaped. It does not mask a mixture. */
function escapeHtml(text: string): string {
  const escaped = /[&<>]/.test(text) ? text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text
  return escaped.replaceAll('##[', '##&#91;')
}
