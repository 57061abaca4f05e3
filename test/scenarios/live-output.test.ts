import { expect, test } from 'vitest'
import { ONE_PASSED, scenario } from '../support/scenario.ts'

// The built action shows the output of the tests while they run. test/action/test-output.test.ts has all cases.

function logLine(pattern: RegExp) {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, onLogLine: (line: string) => (pattern.test(line) ? resolve() : undefined) }
}

test.concurrent('the output of the tests is in the log while the run is running, with its colours', async () => {
  const { promise: seen, onLogLine } = logLine(/pays by card/)
  await using one = await scenario({ script: { runningMs: Infinity, output: '', cases: ONE_PASSED }, onLogLine })
  const main = one.step.startMain()
  await one.service.waitForRequest('get', 2)
  const runId = one.service.runs[0]?.runId ?? ''
  one.service.addOutput(runId, '\u001b[32m✓\u001b[39m pays by card\n')
  await seen
  expect(one.service.runs[0]?.status).toBe('RUNNING')
  one.service.addOutput(runId, 'the last line, without its end')
  one.service.finishRun(runId)
  const { exitCode, log } = await main.result()
  expect(exitCode).toBe(0)
  const [first, last, verdict] = [/✓/, /the last line/, /finished as PASSED/].map((line) =>
    log.findIndex((logged) => line.test(logged)),
  )
  expect(log[first ?? 0]).toBe('\u001b[32m✓\u001b[39m pays by card\u001b[0m')
  expect([first, last, verdict]).toEqual([first, last, verdict].toSorted((a, b) => Number(a) - Number(b)))
  expect(first).toBeGreaterThan(0)
})

test.concurrent('a value that a test masks is hidden in the log, in annotations and in the summary', async () => {
  const cases = [{ title: 'logs in', status: 'FAILED', message: 'no user with s3cret-token', durationMs: 5 }]
  const output = 'starts\n::add-mask::s3cret-token\nlogs in with s3cret-token\n'
  await using one = await scenario({ script: { end: 'FAILED', cases, output } })
  const { main } = await one.step.run()
  expect(main.log).toContain('logs in with ***')
  expect(main.annotations.map(({ message }) => message).join()).toContain('no user with ***')
  expect(main.summary).toContain('no user with ***')
  expect(JSON.stringify([main.log, main.annotations, main.summary])).not.toContain('s3cret-token')
})
