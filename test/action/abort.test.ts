import { describe, expect, test } from 'vitest'
import { abortReason, StepAborted } from '../../src/action/abort.ts'

describe('the time after a signal', () => {
  test.each([
    // SIGKILL follows after 10 s. Without a start in flight, main exits within 7 s.
    ['SIGINT', 9_000, 6_700, 9_200, 7_000],
    // On Windows, SIGBREAK comes 2.5 s before the end, as SIGTERM does on other systems.
    ['SIGTERM', 1_800, 2_050, 2_050, 2_200],
    ['SIGBREAK', 1_800, 2_050, 2_050, 2_200],
    // The runner never sends SIGHUP.
    ['SIGHUP', 1_800, 2_050, 2_050, 2_200],
    // Post waits for 40 s.
    ['asked by post', 30_000, 15_000, 37_500, 38_000],
    ['RUNNER_TEMP emptied', 30_000, 15_000, 37_500, 38_000],
    ['log closed', 30_000, 15_000, 37_500, 38_000],
  ] as const)('%s is %i ms for a start, %i ms for a cancel, %i ms for both, and %i ms until the exit', (by, startMs, cancelMs, bothMs, exitMs) => {
    const reason = new StepAborted(by, 1_000)
    expect(reason.startDeadlineMs).toBe(1_000 + startMs)
    expect(reason.cancelDeadlineMs(999)).toBe(1_000 + cancelMs)
    expect(reason.cancelDeadlineMs(1_000)).toBe(1_000 + bothMs)
    expect(reason.exitDeadlineMs).toBe(1_000 + exitMs)
  })

  test('cannot be read from a signal that aborts for another reason', () => {
    expect(() => abortReason(AbortSignal.abort())).toThrow(TypeError)
  })
})
