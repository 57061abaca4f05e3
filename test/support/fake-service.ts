import { type Failure, ServiceError } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import type { TestService } from '../../src/service/test-service.ts'
import type { RequestOptions } from '../../src/service/transport.ts'
import { aRun } from './builders.ts'
import type { FakeClock } from './fake-clock.ts'
import { simulateRequest } from './simulated-request.ts'

/** What happens to one request. */
export interface Reply<T> {
  readonly afterMs: number
  readonly give: () => T
  /** It never gets as far as a connection. */
  readonly isNeverSent?: true
}

export function response<T>(value: T, afterMs = 0): Reply<T> {
  return { afterMs, give: () => value }
}

export function failure(reason: Failure, afterMs = 0): Reply<never> {
  return {
    afterMs,
    give: () => {
      throw new ServiceError(reason)
    },
  }
}

/** Nothing ever comes back. */
export const noResponse: Reply<never> = { afterMs: Number.POSITIVE_INFINITY, give: neverCalled }
/** No connection is ever made. */
export const noConnection: Reply<never> = { ...noResponse, isNeverSent: true }

function neverCalled(): never {
  throw new Error('a response that never comes')
}

export interface Script {
  readonly start?: readonly Reply<string>[]
  readonly get?: readonly Reply<Run>[]
  /** Absent: the workflow has no cancel. */
  readonly cancel?: readonly Reply<boolean>[]
}

export interface SentRequest {
  readonly method: 'start' | 'get' | 'cancel'
  readonly atMs: number
  readonly runId?: string
  readonly onNewConnection: boolean
}

/** A service with a script: one reply a request, and the last of each list for all that follow. */
export class FakeService implements TestService {
  readonly requests: SentRequest[] = []
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<boolean>
  readonly #clock: FakeClock
  readonly #script: Script

  constructor(clock: FakeClock, script: Script) {
    this.#clock = clock
    this.#script = script
    if (script.cancel !== undefined) {
      this.cancel = (runId, options) => this.#reply('cancel', script.cancel, options, runId)
    }
  }

  start(_order: unknown, options: RequestOptions): Promise<string> {
    return this.#reply('start', this.#script.start, options)
  }

  get(runId: string, options: RequestOptions): Promise<Run> {
    return this.#reply('get', this.#script.get, options, runId)
  }

  /** When the requests of one method were made. */
  timesMs(method: SentRequest['method']): number[] {
    return this.requests.filter((request) => request.method === method).map(({ atMs }) => atMs)
  }

  #reply<T>(
    method: SentRequest['method'],
    script: readonly Reply<T>[] = [],
    options: RequestOptions,
    runId?: string,
  ): Promise<T> {
    const reply = script[Math.min(this.timesMs(method).length, script.length - 1)]
    if (reply === undefined) throw new Error(`the script has no reply for ${method}`)
    const { onNewConnection = false } = options
    this.requests.push({ method, atMs: this.#clock.now(), onNewConnection, ...(runId === undefined ? {} : { runId }) })
    return simulateRequest(this.#clock, options, {
      sentAfterMs: reply.isNeverSent ? Number.POSITIVE_INFINITY : 0,
      servedAfterMs: reply.afterMs,
      serve: reply.give,
      respondsAfterMs: reply.afterMs,
    })
  }
}

/** Runs as most tests need them. */
export const QUEUED = aRun({ status: 'QUEUED', startedAt: undefined, finishedAt: undefined, testCases: undefined })
export const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
export const PASSED = aRun({ status: 'PASSED' })
