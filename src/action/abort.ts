/**
 * Why and until when: the reason of the one AbortSignal that runs through the action. The runner kills some seconds
 * after its signal (7.5 s after SIGINT, 2.5 s after SIGTERM), and all that is still to be done must fit before.
 */
export class StepCancelled extends Error {
  override readonly name = 'StepCancelled'
  /** Until when, on the clock's `now()`, the response to a start in flight may be awaited. */
  readonly startDeadlineMs: number
  /** Until when the cancel at the service may be tried. */
  readonly cancelDeadlineMs: number

  constructor(signal: NodeJS.Signals, nowMs: number) {
    super(`The step was cancelled (${signal}).`)
    // The rest of the runner's time is for the outputs, the summary and the exit.
    const [startMs, cancelMs] = signal === 'SIGINT' ? [6_000, 6_700] : [1_800, 2_050]
    this.startDeadlineMs = nowMs + startMs
    this.cancelDeadlineMs = nowMs + cancelMs
  }
}

/** The reason of an aborted signal that main made. */
export function cancelReason(signal: AbortSignal): StepCancelled {
  return signal.reason as StepCancelled
}

/** Calls back once when the signal aborts, or at once if it has already. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  signal.addEventListener('abort', callback, { once: true })
  return () => signal.removeEventListener('abort', callback)
}
