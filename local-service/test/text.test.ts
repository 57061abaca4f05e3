import { expect, it } from 'vitest'
import {
  count,
  foldedGroup,
  notStartedSummary,
  quote,
  quoteAll,
  quoteCommand,
  toCommand,
  toLogLine,
  toLogText,
} from '../src/text.ts'

it.each([
  ['a value', quote('a\n"b"'), '"a\\n\\"b\\""'],
  ['no value', quote(undefined), 'undefined'],
  ['a command', quoteCommand(['sh', '-c', 'a\n  b']), '`sh -c a b`'],
  ['no names', quoteAll([]), 'none'],
  ['names', quoteAll('abcdefghijk'.split('')), '"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", …'],
  ['one', count(1, 'test case'), '1 test case'],
  ['another number', count(0, 'test case'), '0 test cases'],
])('%s stands on one line: %s', (_, text, expected) => expect(text).toBe(expected))

it('a quoted text is truncated', () => {
  for (const text of [quote('x'.repeat(1000)), quoteCommand(['x'.repeat(1000)])]) expect(text.length).toBeLessThan(110)
})

it('a text for the log is no command of the runner, and its further lines are marked', () => {
  expect(toLogText('first\n::error::second')).toBe('first\n    | : :error::second')
})

it('in a folded group, nothing is a command of the runner, and the colours stay', () => {
  const text = 'first\n::error::a ##[error]b\n\u001B[31mred\u001B[0m\n'
  expect(foldedGroup('Log %0A::error::', text).split('\n')).toEqual([
    '::group::Log %250A::error::',
    'first',
    ': :error::a # #[error]b',
    '\u001B[31mred\u001B[0m\u001B[0m',
    '::endgroup::',
  ])
})

it('a line or a message is no other command, and a message cannot end the runner', () => {
  expect(toLogLine('a\n::error::b\r##[error]c')).toBe('a ::error::b # #[error]c')
  expect(toCommand('error', '🐙'.repeat(3000))).toBe(`::error::${'🐙'.repeat(40) + '\uFFFD'.repeat(2960)}`)
  expect(toCommand('warning', 'a'.repeat(5000))).toHaveLength('::warning::'.length + 4000)
  expect(toCommand('warning', '100 %\n::error::b')).toBe('::warning::100 %25%0A: :error::b')
})

it('the summary of a service that did not start has a paragraph for each line, without tags and mentions of others', () => {
  expect(notStartedSummary('no <b>\n@octocat')).toBe(
    '\n\n## ❌ Local service not started\n<p><code>no &lt;b&gt;</code></p>\n<p><code>@octocat</code></p>\n',
  )
})
