import type { Failure } from '../../src/outcome/failure.ts'
import { REQUEST_LIMIT_MS, type RequestOptions } from '../../src/service/transport.ts'
import type { FakeClock } from './fake-clock.ts'

/** What happens to one request and when, in milliseconds from its beginning. Infinity means never. */
export interface RequestTimeline<T> {
  /** When the connection is made and the request goes out. */
  readonly sentAfterMs: number
  /** There is no connection. The client gets this failure. */
  readonly refusal?: Failure | undefined
  /** When the service takes the request, even if nobody waits for the response any more. */
  readonly servedAfterMs: number
  /** What the service does, and its response. */
  readonly serve: () => T | Failure
  readonly respondsAfterMs: number
  /** The response is lost. The client gets this failure. */
  readonly loss?: Failure | undefined
}

/** One request over a simulated network. Its signals and its time limit end it, as in `transport.ts`. */
export function simulateRequest<T>(
  clock: FakeClock,
  options: RequestOptions,
  timeline: RequestTimeline<T>,
): Promise<T | Failure> {
  const { signal, graceIfSentMs = () => 0 } = options
  const begunMs = clock.now()
  const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)

  return new Promise((resolve, reject) => {
    let isSent = false
    let isSettled = false
    let respond: () => T | Failure = () => {
      throw new Error('responded before it was served')
    }

    function settle(task: () => void): void {
      if (isSettled) return
      isSettled = true
      signal.removeEventListener('abort', onAbort)
      for (const forget of timers) forget()
      task()
    }
    const fail = (failure: Failure) => settle(() => resolve(failure))
    const onAbort = () => {
      const graceMs = isSent ? graceIfSentMs() : 0
      if (!isSent) fail({ kind: 'not-sent', reason: 'given up before the request went out' })
      else if (graceMs > 0) timers.push(clock.at(clock.now() + graceMs, () => fail({ kind: 'aborted' })))
      else fail({ kind: 'aborted' })
    }
    const onLimit = () => {
      const reason = `no complete response within ${limitMs / 1000} s`
      fail(isSent ? { kind: 'no-response', reason } : { kind: 'not-sent', reason })
    }
    const onSent = () => {
      if (timeline.refusal !== undefined) return fail(timeline.refusal)
      isSent = true
      // The request is on its way from here on. So the end of the request does not clear these timers.
      clock.at(begunMs + timeline.servedAfterMs, () => {
        respond = serveOnce(timeline.serve)
      })
      clock.at(begunMs + timeline.respondsAfterMs, () => {
        if (timeline.loss !== undefined) fail(timeline.loss)
        else settle(() => settleWith(respond))
      })
    }
    const settleWith = (given: () => T | Failure) => {
      try {
        resolve(given())
      } catch (error) {
        reject(error)
      }
    }

    const timers: (() => void)[] = []
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort)
    timers.push(clock.at(begunMs + timeline.sentAfterMs, onSent), clock.at(begunMs + limitMs, onLimit))
  })
}

function serveOnce<T>(serve: () => T): () => T {
  try {
    const value = serve()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}
