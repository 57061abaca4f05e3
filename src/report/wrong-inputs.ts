import { type Html, html, type LogLine, render, untruncatedHtml } from './safe-text.ts'

/** The job summary of a step that never came to ask the service for anything. */
export function invalidInputsSummary(sentences: readonly LogLine[]): Html {
  const items = sentences.map((sentence) => untruncatedHtml`<li>${render(sentence)}</li>\n`)
  return html`## ❌ Invalid inputs\n<p>Nothing was requested from the service.</p>\n<ul>\n${items}</ul>\n`
}
