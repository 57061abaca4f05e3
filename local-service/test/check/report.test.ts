import { expect, it } from 'vitest'
import { render, shown } from '../../src/check/report.ts'
import { judge } from '../../src/check/rules.ts'
import { KEY } from './a-service-in-memory.ts'

it('has seconds in JUnit XML', () => {
  const request = { endpoint: 'start', method: 'POST', path: '/v1/projects/shop/runs', index: 0 } as const
  const exchange = { ...request, atMs: 0, durationMs: 1500, failure: 'no response' }
  const rules = judge({ exchanges: [exchange], cancelMs: 0 }).filter(({ verdict }) => verdict === 'broken')
  const times = { startedAtMs: 0, finishedAtMs: 2500 }
  const report = render({ url: '', project: 'shop', exitCode: 1, ...times, rules, left: [] }, 'junit', KEY)
  expect(report).toMatch(/<testsuites [^>]*time="2.5"/)
  expect(report.match(/<testcase [^>]*time="[^"]*"/g)).toEqual([expect.stringContaining('time="1.5"')])
})

it.each([
  ['::error::x', ':\\u{3a}error::x'],
  ['  ::error::x', '  :\\u{3a}error::x'],
  ['##[error]x', '#\\u{23}[error]x'],
  ['x\n::error::x', 'x\\u{a}::error::x'],
  ['a::b', 'a::b'],
])('shows %j as a text that is no command of the runner', (text, escaped) => {
  expect(shown(text, KEY)).toBe(escaped)
})
