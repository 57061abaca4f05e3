import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderedPage } from '../../../test/support/rendered-page.ts'
import { describeFailedRuns } from '../../src/action/failed-runs.ts'
import { foldedLog, toLogLine, toMessage } from '../../src/action/runner-text.ts'
import type { FailedRun } from '../../src/action/service-folder.ts'

const RUN: FailedRun = { runId: 'r1', projectId: 'shop', status: 'FAILED' }
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
    fc.property(HOSTILE, HOSTILE, HOSTILE, (text, problem, output) => {
      const run = { runId: text, projectId: text, status: text as FailedRun['status'], problem, output: `${output}.` }
      const markdown = describeFailedRuns([run, run])
      const one =
        '<h3>Tests of <code></code>: <code></code></h3>\n\n<p>Run <code></code>. <code></code></p>\n\n<pre><code></code></pre>'
      expect(renderedPage(markdown).skeleton.trim().replaceAll(/\n+/g, '\n\n')).toBe(`${one}\n\n${one}`)
      expect(markdown).not.toContain('##[')
    }),
  )
})

test('of a long output, the summary shows the end', () => {
  const summary = describeFailedRuns([{ ...RUN, output: `first line\n${'x'.repeat(100_000)}\nlast line` }])
  expect(summary).toContain('last line')
  expect(summary).not.toContain('first line')
})

test('the summary stays below the limit of GitHub, and says how many runs it leaves out', () => {
  const long = { ...RUN, output: '<'.repeat(100_000) }
  const summary = describeFailedRuns(Array.from({ length: 50 }, () => long))
  expect(Buffer.byteLength(summary)).toBeLessThan(1_000_000)
  const shown = summary.split('<h3>').length - 1
  expect(summary).toContain(`<p>${50 - shown} more did not pass.`)
})

test('the folded log stops the commands of the runner, by a token that nobody can guess, and shortens itself', () => {
  const log = `first\n${'x'.repeat(99)}\n::error::a ##[error]b\n`
  const [group, stop = '', ...lines] = foldedLog(log.repeat(3000)).split('\n')
  expect(group).toBe('::group::Log of the local service')
  const token = stop.replace('::stop-commands::', '')
  expect(token).toMatch(/^[\da-f-]{36}$/)
  expect(lines.slice(-2)).toEqual([`::${token}::`, '::endgroup::'])
  expect(lines[0]).toBe('…')
  expect(lines.join('').length).toBeLessThan(210_000)
  expect(lines.join('\n')).not.toContain('##[')
})

test('a line or a message is no other command, and a message cannot end the runner', () => {
  expect(toLogLine('a\n::error::b\r##[error]c')).toBe('a ::error::b ## [error]c')
  expect(toMessage('🐙'.repeat(3000))).toBe(`${'\uFFFD'.repeat(3000)}`)
  expect(toMessage('a'.repeat(5000))).toHaveLength(3001)
})
