import type { Failure } from '../../src/model/failure.ts'
import type { Run, StartParameters } from '../../src/model/run.ts'
import type { ServiceClient } from '../../src/service/client.ts'
import type { OutputPart } from '../../src/service/decode.ts'
import { REQUEST_LIMIT_MS, type RequestOptions } from '../../src/service/transport.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { aRun } from './builders.ts'
import type { FakeClock } from './fake-clock.ts'

/** What happens to one request and when, in milliseconds from its beginning. Infinity means never. */
export interface Reply<T> {
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

export function response<T>(value: T, afterMs = 0): Reply<T> {
  return giving(() => value, afterMs)
}

export function failure(reason: Failure, afterMs = 0): Reply<never> {
  return giving<never>(() => reason, afterMs)
}

export function giving<T>(serve: () => T | Failure, afterMs = 0): Reply<T> {
  return { sentAfterMs: 0, servedAfterMs: afterMs, serve, respondsAfterMs: afterMs }
}

export function statusFailure(status: number, retryAfterMs?: number): Failure {
  return { failure: true, kind: 'status', status, retryAfterMs }
}

export const REFUSED: Failure = { failure: true, kind: 'not-sent', reason: 'connect ECONNREFUSED' }
export const LOST: Failure = { failure: true, kind: 'no-response', reason: 'read ECONNRESET' }
export const NOT_LISTED: Failure = { failure: true, kind: 'not-listed' }
export const NOT_JSON: Failure = {
  failure: true,
  kind: 'invalid-response',
  expected: 'JSON',
  got: { sent: untrusted('<html>') },
}

const NEVER = Number.POSITIVE_INFINITY

export const noResponse: Reply<never> = giving(() => {
  throw new Error('a response that never comes')
}, NEVER)
export const noConnection: Reply<never> = { ...noResponse, sentAfterMs: NEVER }

/** One reply for each request. The last reply is for all later requests. Or a function that makes the replies. */
type Replies<T> = readonly Reply<T>[] | ((runId: string) => Reply<T>)

export interface Script {
  readonly start?: Replies<string>
  readonly get?: Replies<Run>
  /** If absent, the workflow has no cancel. */
  readonly cancel?: Replies<true> | undefined
  /** If absent, the service offers no output. */
  readonly output?: (from: number) => Reply<OutputPart>
}

export interface SentRequest {
  readonly method: 'start' | 'get' | 'cancel' | 'output'
  readonly atMs: number
  readonly runId?: string
}

export class FakeService implements ServiceClient {
  readonly requests: SentRequest[] = []
  parameters: StartParameters | undefined
  readonly failureLimitMs: number
  readonly redact = (text: string) => text
  readonly output?: ServiceClient['output']
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<true | Failure>
  readonly #counts = { start: 0, get: 0, cancel: 0, output: 0 }
  readonly #clock: FakeClock
  readonly #script: Script

  constructor(clock: FakeClock, script: Script, failureLimitMs = 300_000) {
    this.failureLimitMs = failureLimitMs
    this.#clock = clock
    this.#script = script
    const { output } = script
    if (output !== undefined) {
      this.output = (runId, from, options) => this.#reply('output', () => output(from), options, runId)
    }
    if (script.cancel !== undefined) {
      this.cancel = (runId, options) => this.#reply('cancel', script.cancel, options, runId)
    }
  }

  start(parameters: StartParameters, options: RequestOptions): Promise<string | Failure> {
    this.parameters = parameters
    return this.#reply('start', this.#script.start, options)
  }

  get(runId: string, options: RequestOptions): Promise<Run | Failure> {
    return this.#reply('get', this.#script.get, options, runId)
  }

  timesMs(method: SentRequest['method']): number[] {
    return this.requests.filter((request) => request.method === method).map(({ atMs }) => atMs)
  }

  #reply<T>(
    method: SentRequest['method'],
    replies: Replies<T> = [],
    options: RequestOptions,
    runId = '',
  ): Promise<T | Failure> {
    const reply =
      typeof replies === 'function' ? replies(runId) : replies[Math.min(this.#counts[method]++, replies.length - 1)]
    if (reply === undefined) throw new Error(`the script has no reply for ${method}`)
    this.requests.push({ method, atMs: this.#clock.now(), ...(runId === '' ? {} : { runId }) })
    return simulateRequest(this.#clock, options, reply)
  }
}

/** One request over a simulated network. Its signals and its time limit end it, as in `transport.ts`. */
function simulateRequest<T>(clock: FakeClock, options: RequestOptions, reply: Reply<T>): Promise<T | Failure> {
  const { signal, graceIfSentMs = () => 0 } = options
  const begunMs = clock.now()
  const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)

  return new Promise((resolve) => {
    let isSent = false
    const timers: (() => void)[] = []

    /** The first result counts. */
    const settle = (result: Failure | Promise<T | Failure>) => {
      signal.removeEventListener('abort', onAbort)
      for (const forget of timers) forget()
      resolve(result)
    }
    const onAbort = () => {
      if (!isSent) return settle({ failure: true, kind: 'not-sent', reason: 'given up before the request went out' })
      const giveUp = () => settle({ failure: true, kind: 'aborted' })
      const graceMs = graceIfSentMs()
      if (graceMs > 0) timers.push(clock.at(clock.now() + graceMs, giveUp))
      else giveUp()
    }
    const onLimit = () => {
      const reason = `no complete response within ${limitMs / 1000} s`
      settle({ failure: true, kind: isSent ? 'no-response' : 'not-sent', reason })
    }
    const onSent = () => {
      if (reply.refusal !== undefined) return settle(reply.refusal)
      isSent = true
      const served = Promise.withResolvers<T | Failure>()
      served.promise.catch(() => {})
      // The request is on its way from here on. So the end of the request does not clear these timers.
      clock.at(begunMs + reply.servedAfterMs, () => served.resolve(new Promise((done) => done(reply.serve()))))
      clock.at(begunMs + reply.respondsAfterMs, () => settle(reply.loss ?? served.promise))
    }

    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort)
    timers.push(clock.at(begunMs + reply.sentAfterMs, onSent), clock.at(begunMs + limitMs, onLimit))
  })
}

export const QUEUED = aRun({ status: 'QUEUED', startedAt: undefined, finishedAt: undefined, testCases: undefined })
export const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
export const PASSED = aRun({ status: 'PASSED' })
