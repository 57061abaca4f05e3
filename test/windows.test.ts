import { expect, test } from 'vitest'
import { scenario } from './support/scenario.ts'

// A test of Windows that runs on any machine. The workflow CI runs the action on Windows itself.

test('on Windows, SIGBREAK cancels the run and ends the step', async () => {
  // Node raises SIGBREAK at the second console event of Windows. Other systems cannot send it, so the test raises it.
  const whenItRuns = `
    const write = process.stdout.write
    process.stdout.write = function (text, ...rest) {
      if (/: RUNNING/.test(text)) setImmediate(() => process.emit('SIGBREAK', 'SIGBREAK'))
      return write.call(this, text, ...rest)
    }
  `
  await using one = await scenario({
    script: { runningMs: Number.POSITIVE_INFINITY },
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(whenItRuns)}` },
  })
  const { main } = await one.step.run()
  expect(main.exitCode).toBe(1)
  expect(main.outputs.conclusion).toBe('cancelled')
  expect(one.service.runs.map(({ status }) => status)).toEqual(['CANCELLED'])
  expect(one.service.requests.filter(({ kind }) => kind === 'cancel')).toHaveLength(1)
})
