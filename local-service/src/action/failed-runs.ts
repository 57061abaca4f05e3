import type { FailedRun } from './service-folder.ts'

// The job summary of post. The interface has no error messages, so a person reads here why tests failed.

/** If a summary is larger than 1 MiB, GitHub drops all of it. */
const SIZE_LIMIT_BYTES = 900_000
const OUTPUT_LIMIT_CHARS = 30_000

/** Markdown for the summary of the job. */
export function describeFailedRuns(runs: readonly FailedRun[]): string {
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
 * All text is untrusted, because tests may have written to the file that a run comes from. The text stands escaped in
 * `<code>` in a block of HTML. There, GitHub looks for no Markdown, mentions and links.
 */
function describe({ runId, projectId, status, problem, output = '' }: FailedRun): string {
  const text = output.trim().slice(-OUTPUT_LIMIT_CHARS)
  const facts = [`Run ${code(runId)}`, ...(problem === undefined ? [] : [code(problem)])]
  const blocks = [`<h3>Tests of ${code(projectId)}: ${code(status)}</h3>`, `<p>${facts.join('. ')}</p>`]
  if (text !== '') blocks.push(`<pre>${block(text)}</pre>`)
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
