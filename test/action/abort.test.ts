import { describe, expect, test } from 'vitest'
import { abortReason, hasJobEnded, StepAborted } from '../../src/action/abort.ts'

describe('the time after an abort', () => {
  test.each([
    'signal',
    'job ended',
  ] as const)('is 9.1 s for a start, 9.35 s for a cancel, and 9.5 s until the exit (%s)', (cause) => {
    expect(new StepAborted(cause, 1_000)).toMatchObject({
      startDeadlineMs: 10_100,
      cancelDeadlineMs: 10_350,
      exitDeadlineMs: 10_500,
    })
  })

  test('is not the time after the job, in which main writes only to its log', () => {
    const controller = new AbortController()
    expect(hasJobEnded(controller.signal)).toBe(false)
    controller.abort(new StepAborted('job ended', 0))
    expect(hasJobEnded(controller.signal)).toBe(true)
    expect(hasJobEnded(AbortSignal.abort(new StepAborted('signal', 0)))).toBe(false)
  })

  test('cannot be read from a signal that aborts for another reason', () => {
    expect(() => abortReason(AbortSignal.abort())).toThrow(TypeError)
  })
})
