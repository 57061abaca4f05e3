import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderedPage } from '../../../test/support/rendered-page.ts'
import { describeRuns, type ShownRun } from '../../src/action/job-summary.ts'

const RUN: ShownRun = { runId: 'r1', projectId: 'shop', status: 'FAILED', message: 'vitest found no tests', output: '' }
const HOSTILE = fc
  .array(
    fc.constantFrom(
      '</code>',
      '</pre>',
      '<b>',
      '\n',
      '\n\n',
      '# @a',
      '`',
      '##[error]',
      '::error::',
      '&lt;',
      '\u202e',
      'a"',
    ),
  )
  .map((parts) => parts.join(''))

test('whatever a run holds, the summary has the same elements, and the text only in code', () => {
  fc.assert(
    fc.property(HOSTILE, HOSTILE, HOSTILE, (text, message, output) => {
      const run = { runId: text, projectId: text, status: text, message, output: `${output}.` }
      const markdown = describeRuns([run, run])
      const one =
        '<h3>Tests of <code></code>: <code></code></h3>\n\n<p>Run <code></code>. <code></code></p>\n\n<pre><code></code></pre>'
      const skeleton = renderedPage(markdown)
        .skeleton.replaceAll('<br></br><code></code>', '')
        .replaceAll('<br></br>', '')
      expect(skeleton.trim().replaceAll(/\n+/g, '\n\n')).toBe(`${one}\n\n${one}`)
      expect(markdown).not.toContain('##[')
    }),
  )
})

test('of a long output, the summary shows the end', () => {
  const summary = describeRuns([{ ...RUN, output: `first line\n${'x'.repeat(100_000)}\nlast line` }])
  expect(summary).toContain('last line')
  expect(summary).not.toContain('first line')
})

test('the summary stays below the limit of GitHub, and says how many runs it leaves out', () => {
  const long = { ...RUN, output: '<'.repeat(100_000) }
  const summary = describeRuns(Array.from({ length: 50 }, () => long))
  expect(Buffer.byteLength(summary)).toBeLessThan(1_000_000)
  const shown = summary.split('<h3>').length - 1
  expect(summary).toContain(`<p>${50 - shown} more did not pass.`)
})
