import { expect, it } from 'vitest'
import {
  count,
  foldedGroup,
  quote,
  quoteAll,
  quoteCommand,
  toCommandMessage,
  toLogLine,
  toLogText,
} from '../src/text.ts'

it('a quoted value stays on one line, and is truncated', () => {
  expect(quote('a\n"b"')).toBe('"a\\n\\"b\\""')
  expect(quote(undefined)).toBe('undefined')
  expect(quote('x'.repeat(1000)).length).toBeLessThan(110)
})

it('a number has the noun of its size', () => {
  expect([0, 1, 2].map((number) => count(number, 'test case'))).toEqual(['0 test cases', '1 test case', '2 test cases'])
})

it('a list of names ends after the tenth', () => {
  expect(quoteAll([])).toBe('none')
  expect(quoteAll('abcdefghij'.split(''))).toMatch(/^"a", .*"j"$/)
  expect(quoteAll('abcdefghijk'.split(''))).toMatch(/"j", …$/)
})

it('a quoted command stays on one line, and is truncated', () => {
  expect(quoteCommand(['sh', '-c', 'a\n  b'])).toBe('`sh -c a b`')
  expect(quoteCommand(['x'.repeat(1000)]).length).toBeLessThan(110)
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
  expect(toCommandMessage('🐙'.repeat(3000))).toBe('🐙'.repeat(40) + '\uFFFD'.repeat(2960))
  expect(toCommandMessage('a'.repeat(5000))).toHaveLength(4000)
})
