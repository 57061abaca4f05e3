import { parse } from 'parse5'
import { expect, test } from 'vitest'
import { renderSummaryPage } from '../../scripts/render-summary.ts'

test('a summary becomes one whole page', () => {
  const page = renderSummaryPage(
    '## ❌ Failed\n\n| a | b |\n| --- | --- |\n| 1 | ~~2~~ |\n\n<details><summary>More</summary>\n\n`code`\n\n</details>',
    'A & <b>',
  )
  const errors: string[] = []
  parse(page, { onParseError: ({ code }) => errors.push(code) })
  expect(errors).toEqual([])
  expect(page).toContain('<title>A &amp; &lt;b&gt;</title>')
  expect(page).toContain('<h2>❌ Failed</h2>')
  expect(page).toContain('<td><del>2</del></td>')
  expect(page).toMatch(/<details><summary>More<\/summary>\s*<p><code>code<\/code><\/p>\s*<\/details>/)
})

test('the page runs and loads nothing, whatever the summary contains', () => {
  const page = renderSummaryPage(
    '<script>alert(1)</script>\n\n<p onclick="x()"><img src="https://example.com/x.png"></p>',
  )
  expect(page).not.toContain('<script')
  // The policy comes before any part of the summary.
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`
  expect(page.indexOf(policy)).toBeGreaterThan(0)
  expect(page.indexOf(policy)).toBeLessThan(page.indexOf('onclick'))
})
