import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/**
 * A job summary as an HTML page that looks much like GitHub's. It has light and dark colours, and fits a phone.
 * Whatever the summary contains, the page loads nothing and runs nothing.
 */
export function renderSummaryPage(markdown: string, title = 'Job summary'): string {
  const body = micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${STYLES}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

// Sizes and colours like those of GitHub's Markdown.
const STYLES = `
:root {
  --text: #1f2328; --soft-text: #59636e; --page: #f6f8fa; --card: #ffffff; --line: #d1d9e0; --stripe: #f6f8fa;
  --code: #818b981f; --link: #0969da;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #f0f6fc; --soft-text: #9198a1; --page: #010409; --card: #0d1117; --line: #3d444d; --stripe: #151b23;
    --code: #656c7633; --link: #4493f8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 24px 16px; background: var(--page); color: var(--text);
  font: 14px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif,
    "Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji";
  overflow-wrap: break-word;
}
main {
  max-width: 980px; margin: 0 auto; padding: 24px; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px;
}
main > :first-child { margin-top: 0; }
main > :last-child { margin-bottom: 0; }
h1, h2, h3, h4 { margin: 24px 0 16px; font-weight: 600; line-height: 1.25; }
h1 { font-size: 2em; padding-bottom: 0.3em; border-bottom: 1px solid var(--line); }
h2 { font-size: 1.5em; padding-bottom: 0.3em; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.25em; }
p, ul, ol, table, pre, details, blockquote { margin: 0 0 16px; }
a { color: var(--link); }
ul, ol { padding-left: 2em; }
blockquote { padding: 0 1em; color: var(--soft-text); border-left: 0.25em solid var(--line); }
hr { height: 0.25em; margin: 24px 0; border: 0; background: var(--line); }
code, pre { font-family: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
code { padding: 0.2em 0.4em; font-size: 85%; white-space: break-spaces; background: var(--code); border-radius: 6px; }
pre { padding: 16px; overflow: auto; background: var(--stripe); border-radius: 6px; }
pre code { padding: 0; font-size: 100%; white-space: inherit; background: none; }
table { display: block; width: max-content; max-width: 100%; overflow: auto; border-spacing: 0; border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid var(--line); }
th { font-weight: 600; }
tr { background: var(--card); border-top: 1px solid var(--line); }
tbody tr:nth-child(2n) { background: var(--stripe); }
summary { cursor: pointer; }
details > :not(summary):first-of-type { margin-top: 8px; }
@media (max-width: 600px) {
  body { padding: 0; background: var(--card); }
  main { padding: 16px; border: 0; border-radius: 0; }
}
`
