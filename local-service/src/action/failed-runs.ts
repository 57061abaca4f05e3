import type { FailedRun } from './service-folder.ts'

// The job summary of post: the interface has no error messages, so this is where a person reads why tests failed.

const RUNS_SHOWN = 20

/** Markdown for the summary of the job. */
export function describeFailedRuns(runs: readonly FailedRun[]): string {
  const shown = runs.slice(0, RUNS_SHOWN).map(describe)
  const hidden = runs.length - shown.length
  if (hidden > 0) shown.push(`${hidden} more did not pass. The log of the post step has them.\n`)
  return `${shown.join('\n')}\n`
}

/** Untrusted text stands escaped in `<code>`, in a block of HTML: Markdown, mentions and links are not looked for there. */
function describe({ runId, projectId, status, problem, output = '' }: FailedRun): string {
  const text = output.trim()
  const facts = [`Run ${code(runId)}`, ...(problem === undefined ? [] : [code(problem)])]
  const lines = [`<h3>Tests of ${code(projectId)}: ${status}</h3>`, '', `<p>${facts.join('. ')}</p>`, '']
  return [...lines, ...(text === '' ? [] : [`<pre>${block(text)}</pre>`, ''])].join('\n')
}

/** On one line: a blank line would end the block. */
function code(text: string): string {
  return block(text.replaceAll(/\s+/g, ' '))
}

function block(text: string): string {
  return `<code>${escapeHtml(text.replace(INVISIBLE, ' '))}</code>`
}

/** Controls but line breaks and tabs, bidi and zero-width characters, line separators, lone surrogates. */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--[\n\t]]/gv

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** The runner masks a secret as it is and with all five characters escaped, but not in a mixture. */
function escapeHtml(text: string): string {
  const escaped = /[&<>]/.test(text) ? text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text
  return escaped.replaceAll('##[', '##&#91;')
}
