import { expect, test } from 'vitest'
import { foldedGroup, toCommandMessage, toLogLine } from '../../src/action/runner-text.ts'

test('in a folded group, nothing is a command of the runner, and the colours stay', () => {
  const text = 'first\n::error::a ##[error]b\n\u001B[31mred\u001B[0m\n'
  expect(foldedGroup('Log %0A::error::', text).split('\n')).toEqual([
    '::group::Log %250A::error::',
    'first',
    ': :error::a # #[error]b',
    '\u001B[31mred\u001B[0m\u001B[0m',
    '::endgroup::',
  ])
})

test('a line or a message is no other command, and a message cannot end the runner', () => {
  expect(toLogLine('a\n::error::b\r##[error]c')).toBe('a ::error::b # #[error]c')
  expect(toCommandMessage('🐙'.repeat(3000))).toBe('\uFFFD'.repeat(3000))
  expect(toCommandMessage('a'.repeat(5000))).toHaveLength(4000)
})
