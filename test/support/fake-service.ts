import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import type { ServiceClient } from '../../src/service/client.ts'
import type { OutputPart } from '../../src/service/decode.ts'
import type { RequestOptions } from '../../src/service/transport.ts'
import { aRun } from './builders.ts'
import type { FakeClock } from './fake-clock.ts'
import { type RequestTimeline, simulateRequest } from './simulated-request.ts'

/** What happens to one request. */
export type Reply<T> = RequestTimeline<T>

export function response<T>(value: T, afterMs = 0): Reply<T> {
  return giving(() => value, afterMs)
}

export function failure(reason: Failure, afterMs = 0): Reply<never> {
  return giving<never>(() => reason, afterMs)
}

export function giving<T>(serve: () => T | Failure, afterMs = 0): Reply<T> {
  return { sentAfterMs: 0, servedAfterMs: afterMs, serve, respondsAfterMs: afterMs }
}

const NEVER = Number.POSITIVE_INFINITY

/** No response ever comes. */
export const noResponse: Reply<never> = giving(() => {
  throw new Error('a response that never comes')
}, NEVER)
/** A connection is never made. */
export const noConnection: Reply<never> = { ...noResponse, sentAfterMs: NEVER }

/** One reply for each request. The last reply is for all later requests. Or a function that makes the replies. */
type Replies<T> = readonly Reply<T>[] | ((runId: string) => Reply<T>)

export interface Script {
  readonly start?: Replies<string>
  readonly get?: Replies<Run>
  /** If absent, the workflow has no cancel. */
  readonly cancel?: Replies<boolean> | undefined
  /** If absent, the service offers no output. */
  readonly output?: readonly Reply<OutputPart>[] | ((from: number) => Reply<OutputPart>)
}

export interface SentRequest {
  readonly method: 'start' | 'get' | 'cancel' | 'output'
  readonly atMs: number
  readonly runId?: string
  readonly onNewConnection: boolean
}

/** A service without a network. Its script has its replies. */
export class FakeService implements ServiceClient {
  readonly requests: SentRequest[] = []
  readonly failureLimitMs: number
  readonly redact = (text: string) => text
  readonly output?: ServiceClient['output']
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<boolean | Failure>
  readonly #clock: FakeClock
  readonly #script: Script

  constructor(clock: FakeClock, script: Script, failureLimitMs = 300_000) {
    this.failureLimitMs = failureLimitMs
    this.#clock = clock
    this.#script = script
    const { output } = script
    if (output !== undefined) {
      this.output = (runId, from, options) =>
        this.#reply('output', typeof output === 'function' ? () => output(from) : output, options, runId)
    }
    if (script.cancel !== undefined) {
      this.cancel = (runId, options) => this.#reply('cancel', script.cancel, options, runId)
    }
  }

  start(_order: unknown, options: RequestOptions): Promise<string | Failure> {
    return this.#reply('start', this.#script.start, options)
  }

  get(runId: string, options: RequestOptions): Promise<Run | Failure> {
    return this.#reply('get', this.#script.get, options, runId)
  }

  /** The times of the requests of one method. */
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
      typeof replies === 'function'
        ? replies(runId)
        : replies[Math.min(this.timesMs(method).length, replies.length - 1)]
    if (reply === undefined) throw new Error(`the script has no reply for ${method}`)
    const { onNewConnection = false } = options
    this.requests.push({ method, atMs: this.#clock.now(), onNewConnection, ...(runId === '' ? {} : { runId }) })
    return simulateRequest(this.#clock, options, reply)
  }
}

/** Runs as most tests need them. */
export const QUEUED = aRun({ status: 'QUEUED', startedAt: undefined, finishedAt: undefined, testCases: undefined })
export const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
export const PASSED = aRun({ status: 'PASSED' })
