import { expect, test } from 'vitest'
import { StepAborted } from '../../src/action/abort.ts'

test.each([
  'signal',
  'job ended',
] as const)('after an abort, a start has 9.1 s, a cancel 9.35 s and the exit 9.5 s: %s', (cause) => {
  expect(new StepAborted(cause, 1_000)).toMatchObject({
    startDeadlineMs: 10_100,
    cancelDeadlineMs: 10_350,
    exitDeadlineMs: 10_500,
  })
})
