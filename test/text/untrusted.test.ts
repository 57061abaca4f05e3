import { expect, it } from 'vitest'
import { messageOf, untrusted } from '../../src/text/untrusted.ts'

it('text from outside is a string at run time', () => {
  expect(untrusted('a')).toBe('a')
})

it.each([
  [new TypeError('no such file'), 'no such file'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [{ code: 7 }, '[object Object]'],
])('the message of %o, if it was thrown, is %j', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message)
})
