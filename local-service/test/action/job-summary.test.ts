import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderedPage } from '../../../test/support/rendered-page.ts'
import { describeRuns } from '../../src/action/job-summary.ts'
import type { FinishedRun } from '../../src/runs/store.ts'

interface ShownRun extends FinishedRun {
  readonly output: string
  readonly patch: string
}

const RUN: ShownRun = {
  runId: 'r1',
  projectId: 'shop',
  status: 'FAILED',
  message: 'vitest found no tests',
  fix: undefined,
  shownBytes: 0,
  isReported: false,
  output: '',
  patch: '',
}

function summaryOf(...runs: ShownRun[]): string {
  return describeRuns(runs, (id, file) => {
    const run = runs.find(({ runId }) => runId === id)
    return (file === 'output.txt' ? run?.output : run?.patch) ?? ''
  })
}
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
      const ids = { runId: text, projectId: text, status: text }
      const run = { ...RUN, ...ids, message, fix: message, output: `${output}.`, patch: `${output}.` }
      const markdown = summaryOf(run, run)
      const one =
        '<h3>Tests of <code></code>: <code></code></h3>\n\n<p>Run <code></code>.</p>\n\n<p><code></code></p>\n\n' +
        '<p>The end of the output:</p>\n\n<pre></pre>\n\n<p>Auto-fix: <code></code></p>\n\n' +
        '<details><summary>The patch</summary><pre></pre></details>'
      const { skeleton, elements } = renderedPage(markdown)
      // The lines of the output are text of their block, and nothing else.
      for (const { childNodes } of elements.filter(({ tagName }) => tagName === 'pre'))
        expect(childNodes.map(({ nodeName }) => nodeName)).toEqual(['#text'])
      expect(skeleton.trim().replaceAll(/\n+/g, '\n\n')).toBe(`${one}\n\n${one}`)
      expect(markdown).not.toContain('##[')
    }),
  )
})

test.each<[string, Partial<ShownRun>, string[], string[]]>([
  ['a run that passed', { status: 'PASSED', message: undefined }, [], ['shop']],
  ['a run whose test cases say why', { message: undefined, output: 'rain' }, [], ['shop', 'rain']],
  ['a result that no gate has read', {}, ['Tests of', 'found no tests'], []],
  ['a result without output that a gate has read', { isReported: true }, [], ['shop']],
  [
    'a result that a gate has read',
    { isReported: true, output: 'rain' },
    ['The end of the output', 'rain'],
    ['found no'],
  ],
  [
    'what auto-fix did',
    { isReported: true, message: undefined, fix: 'It changed 1 file.', patch: '-a\n+b' },
    ['Auto-fix: ', 'It changed 1 file.', '+b'],
    ['The end of the output', 'found no'],
  ],
  ['a patch that is too long', { fix: 'It changed 1 file.', patch: 'x'.repeat(30_001) }, ['1 file'], ['The patch']],
])('of %s, the summary has what the summary of the gate cannot have', (_, facts, shown, hidden) => {
  const summary = summaryOf({ ...RUN, ...facts })
  for (const text of shown) expect(summary).toContain(text)
  for (const text of hidden) expect(summary).not.toContain(text)
})

test('of a long output, the summary shows the end', () => {
  const summary = summaryOf({ ...RUN, output: `first line\n${'x'.repeat(100_000)}\nlast line` })
  expect(summary).toContain('last line')
  expect(summary).not.toContain('first line')
})

test('the summary stays below the limit of GitHub, and says that it leaves out runs', () => {
  const long = { ...RUN, output: '<'.repeat(100_000) }
  const summary = summaryOf(...Array.from({ length: 50 }, () => long))
  expect(Buffer.byteLength(summary)).toBeLessThan(1_000_000)
  expect(summary).toContain('<h3>')
  expect(summary).toMatch(/<p>Further runs are left out\. Their output is in the log of the job\.<\/p>\n$/)
})
