import { expect, test } from 'vitest'
import { scenario } from '../support/scenario.ts'

// The built action shows the output of the tests, with its colours. test/action/test-output.test.ts has all cases.

test('a value that a test masks is hidden in the log, in annotations and in the summary', async () => {
  const cases = [{ title: 'logs in', status: 'FAILED', message: 'no user with s3cret-token', durationMs: 5 }]
  const output = '\u001b[32mstarts\n::add-mask::s3cret-token\nlogs in with s3cret-token\n'
  await using one = await scenario({ script: { end: 'FAILED', cases, output } })
  const { main } = await one.step.run()
  expect(main.log).toContain('\u001b[32mstarts\u001b[0m')
  expect(main.log).toContain('logs in with ***')
  expect(main.annotations.map(({ message }) => message).join()).toContain('no user with ***')
  expect(main.summary).toContain('no user with ***')
  expect(JSON.stringify([main.log, main.annotations, main.summary])).not.toContain('s3cret-token')
})
