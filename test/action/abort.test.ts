import { describe, expect, test } from 'vitest'
import { abortReason, StepAborted } from '../../src/action/abort.ts'

describe('the time after a signal', () => {
  test.each([
    // SIGKILL follows after 10 s.
    ['SIGINT', 9_100, 9_350, 9_500],
    // On Windows, SIGBREAK comes 2.5 s before the end, as SIGTERM does on other systems.
    ['SIGTERM', 1_800, 2_050, 2_200],
    ['SIGBREAK', 1_800, 2_050, 2_200],
    // The runner never sends SIGHUP.
    ['SIGHUP', 1_800, 2_050, 2_200],
    // Post waits for 40 s.
    ['asked by post', 37_600, 37_850, 38_000],
    ['RUNNER_TEMP emptied', 37_600, 37_850, 38_000],
    ['log closed', 37_600, 37_850, 38_000],
  ] as const)('%s is %i ms for a start, %i ms for a cancel, and %i ms until the exit', (by, startMs, cancelMs, exitMs) => {
    expect(new StepAborted(by, 1_000)).toMatchObject({
      startDeadlineMs: 1_000 + startMs,
      cancelDeadlineMs: 1_000 + cancelMs,
      exitDeadlineMs: 1_000 + exitMs,
    })
  })

  test('cannot be read from a signal that aborts for another reason', () => {
    expect(() => abortReason(AbortSignal.abort())).toThrow(TypeError)
  })
})
