import { describe, expect, test, vi } from 'vitest'
import { cancelReason, onAbort, StepCancelled } from '../../src/action/abort.ts'

describe('the time after a signal', () => {
  test('after SIGINT a start may take 6 s, and the cancel is over within the 7 s before the runner goes on', () => {
    const reason = new StepCancelled('SIGINT', 1_000)
    expect(reason.startDeadlineMs).toBe(7_000)
    expect(reason.cancelDeadlineMs).toBeGreaterThan(reason.startDeadlineMs)
    expect(reason.cancelDeadlineMs).toBeLessThan(1_000 + 7_000)
  })

  // Windows' second signal comes 2.5 s before the end, as SIGTERM does elsewhere.
  test.each([
    'SIGTERM',
    'SIGBREAK',
  ] as const)('after %s a start may take 1.8 s, and all is over within 2.2 s', (signal) => {
    const reason = new StepCancelled(signal, 1_000)
    expect(reason.startDeadlineMs).toBe(2_800)
    expect(reason.cancelDeadlineMs).toBeGreaterThan(reason.startDeadlineMs)
    expect(reason.cancelDeadlineMs).toBeLessThan(1_000 + 2_200)
  })

  test('it is what an aborted signal tells as its reason, and a second signal does not change it', () => {
    const controller = new AbortController()
    const first = new StepCancelled('SIGINT', 0)
    controller.abort(first)
    controller.abort(new StepCancelled('SIGTERM', 7_500))
    expect(cancelReason(controller.signal)).toBe(first)
    expect(first.message).toBe('The step was cancelled (SIGINT).')
  })
})

describe('onAbort', () => {
  test('calls back once when the signal aborts', () => {
    const controller = new AbortController()
    const callback = vi.fn()
    onAbort(controller.signal, callback)
    expect(callback).not.toHaveBeenCalled()
    controller.abort()
    controller.abort()
    expect(callback).toHaveBeenCalledTimes(1)
  })

  test('calls back at once if the signal has aborted already', () => {
    const callback = vi.fn()
    onAbort(AbortSignal.abort(), callback)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  test('does not call back once it is forgotten', () => {
    const controller = new AbortController()
    const callback = vi.fn()
    onAbort(controller.signal, callback)()
    controller.abort()
    expect(callback).not.toHaveBeenCalled()
  })
})
