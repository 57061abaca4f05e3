import { type Failure, ServiceError } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import { decodeRun } from '../../src/service/decode.ts'
import type { TestService } from '../../src/service/test-service.ts'
import type { RequestOptions } from '../../src/service/transport.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { FakeService, type Script } from '../support/fake-service.ts'
import type { RequestTimeline } from '../support/simulated-request.ts'

/** What happens to one request. `served`: the service takes it, although no response arrives. */
export type NetworkOutcome =
  | { readonly kind: 'response'; readonly afterMs: number }
  | { readonly kind: 'refused'; readonly afterMs: number }
  | { readonly kind: 'no-connection' }
  | { readonly kind: 'untrusted-certificate' }
  | { readonly kind: 'reset'; readonly afterMs: number; readonly served: boolean }
  | { readonly kind: 'silence'; readonly served: boolean }
  | {
      readonly kind: 'status'
      readonly afterMs: number
      readonly status: number
      readonly retryAfterMs?: number | undefined
      readonly served: boolean
    }
  | { readonly kind: 'broken'; readonly afterMs: number }

/** While it lasts, this happens to every request that begins. */
export interface Outage {
  readonly fromMs: number
  readonly forMs: number
  readonly outcome: NetworkOutcome
}

export interface RunPlan {
  readonly id: string
  readonly queuedMs: number
  /** Infinity: it never ends on its own. */
  readonly runningMs: number
  readonly end: string
  /** Statuses of its test cases; absent: no results are sent. */
  readonly cases?: readonly string[]
  /** A status of the future that it has, instead of RUNNING, for the second half of its time. */
  readonly oddStatus?: string
}

export interface ServicePlan {
  readonly run: RunPlan
  /** The step is given this run instead of starting it. */
  readonly isGiven: boolean
  readonly hasCancel: boolean
  readonly usualMs: number
  /** For so long after its start the run is not found, by a poll and by a cancel. */
  readonly unknownToGetForMs: number
  readonly unknownToCancelForMs: number
  /** So many cancels of a running run do nothing and get an empty list. */
  readonly emptyLists: number
  /** For so long after an accepted cancel the run is still RUNNING. */
  readonly stopsAfterMs: number
  /** What a cancel of a finished run gets: an empty list, or this status. */
  readonly responseWhenFinished: 'empty list' | 400 | 404 | 409
  /** The outcomes of the first requests of each kind; later ones all get a response after `usualMs`. */
  readonly starts: readonly NetworkOutcome[]
  readonly gets: readonly NetworkOutcome[]
  readonly cancels: readonly NetworkOutcome[]
  readonly outages: readonly Outage[]
}

export interface ModelRun {
  readonly id: string
  readonly isGiven: boolean
  readonly acceptedAtMs: number
  cancelAcceptedAtMs?: number
}

/** A start that the service accepted, and when its response reaches the client; Infinity if it is lost. */
export interface AcceptedStart {
  readonly begunAtMs: number
  readonly responseAtMs: number
}

/** What a client observed, in order. */
export type ObservedResponse =
  | { readonly method: 'start'; readonly atMs: number; readonly failure: Failure }
  | { readonly method: 'start'; readonly atMs: number; readonly runId: string }
  | { readonly method: 'get'; readonly atMs: number; readonly run: Run }
  | { readonly method: 'get' | 'cancel'; readonly atMs: number; readonly failure: Failure }
  | { readonly method: 'cancel'; readonly atMs: number; readonly isListed: boolean }

/** A model of a test run service, over a network that can do anything to a request. */
export class ModelService {
  readonly runs: ModelRun[] = []
  readonly acceptedStarts: AcceptedStart[] = []
  readonly #clock: FakeClock
  readonly #plan: ServicePlan
  readonly #counts = { start: 0, get: 0, cancel: 0 }
  #emptyListsLeft: number

  constructor(clock: FakeClock, plan: ServicePlan) {
    this.#clock = clock
    this.#plan = plan
    this.#emptyListsLeft = plan.emptyLists
    if (plan.isGiven) this.runs.push({ id: plan.run.id, isGiven: true, acceptedAtMs: clock.now() })
  }

  /** The service as one process sees it. */
  client(onResponse: (response: ObservedResponse) => void): TestService {
    const observe = async <T>(
      method: ObservedResponse['method'],
      request: Promise<T>,
      describe: (value: T) => object,
    ): Promise<T> => {
      try {
        const value = await request
        onResponse({ method, atMs: this.#clock.now(), ...describe(value) } as ObservedResponse)
        return value
      } catch (error) {
        if (error instanceof ServiceError) {
          onResponse({ method, atMs: this.#clock.now(), failure: error.failure } as ObservedResponse)
        }
        throw error
      }
    }
    const service = new FakeService(this.#clock, this.#script())
    const { cancel } = service
    return {
      start: (order, options) => observe('start', service.start(order, options), (runId) => ({ runId })),
      get: (runId, options) => observe('get', service.get(runId, options), (run) => ({ run })),
      ...(cancel !== undefined && {
        cancel: (runId: string, options: RequestOptions) =>
          observe('cancel', cancel(runId, options), (isListed) => ({ isListed })),
      }),
    }
  }

  /** The run's status at this moment, as the service knows it. */
  statusOf(run: ModelRun): string {
    const { queuedMs, runningMs, end, oddStatus } = this.#plan.run
    const nowMs = this.#clock.now()
    const startsAtMs = run.acceptedAtMs + queuedMs
    const endsAtMs = startsAtMs + runningMs
    const stopsAtMs = (run.cancelAcceptedAtMs ?? Number.POSITIVE_INFINITY) + this.#plan.stopsAfterMs
    if (nowMs >= Math.min(endsAtMs, stopsAtMs)) return endsAtMs <= stopsAtMs ? end : 'CANCELLED'
    if (nowMs < startsAtMs) return 'QUEUED'
    return oddStatus !== undefined && nowMs >= startsAtMs + runningMs / 2 ? oddStatus : 'RUNNING'
  }

  isTerminal(run: ModelRun): boolean {
    const { runningMs, queuedMs } = this.#plan.run
    if (this.#clock.now() >= run.acceptedAtMs + queuedMs + runningMs) return true
    return this.statusOf(run) === 'CANCELLED'
  }

  #start(): string {
    const { id } = this.#plan.run
    this.runs.push({ id, isGiven: false, acceptedAtMs: this.#clock.now() })
    return id
  }

  #get(runId: string): Run {
    const run = this.#find(runId, this.#plan.unknownToGetForMs)
    const isTerminal = this.isTerminal(run)
    const { cases } = this.#plan.run
    const json = {
      status: this.statusOf(run),
      startedAt: null,
      ...(isTerminal && { finishedAt: '2026-01-01T00:00:00.000Z' }),
      ...(isTerminal && cases !== undefined && { results: { testCases: cases.map(asTestCase) } }),
    }
    return decodeRun({ json, text: JSON.stringify(json) })
  }

  #cancel(runId: string): boolean {
    const run = this.#find(runId, this.#plan.unknownToCancelForMs)
    if (this.isTerminal(run)) {
      const { responseWhenFinished } = this.#plan
      if (responseWhenFinished === 'empty list') return false
      throw new ServiceError({ kind: 'status', status: responseWhenFinished })
    }
    if (this.#emptyListsLeft > 0) {
      this.#emptyListsLeft--
      return false
    }
    run.cancelAcceptedAtMs ??= this.#clock.now()
    return true
  }

  #find(runId: string, unknownForMs: number): ModelRun {
    const run = this.runs.find(({ id }) => id === runId)
    const isKnown = run !== undefined && (run.isGiven || this.#clock.now() >= run.acceptedAtMs + unknownForMs)
    if (!isKnown) throw new ServiceError({ kind: 'status', status: 404 })
    return run
  }

  #script(): Script {
    return {
      start: () => {
        const begunAtMs = this.#clock.now()
        const timeline: RequestTimeline<string> = timelineOf(this.#nextOutcome('start'), () => {
          this.acceptedStarts.push({ begunAtMs, responseAtMs })
          return this.#start()
        })
        const responseAtMs = timeline.loss === undefined ? begunAtMs + timeline.respondsAfterMs : NEVER
        return timeline
      },
      get: (runId) => timelineOf(this.#nextOutcome('get'), () => this.#get(runId)),
      cancel: this.#plan.hasCancel
        ? (runId) => timelineOf(this.#nextOutcome('cancel'), () => this.#cancel(runId))
        : undefined,
    }
  }

  #nextOutcome(method: ObservedResponse['method']): NetworkOutcome {
    const { starts, gets, cancels, outages, usualMs } = this.#plan
    const outcomes = { start: starts, get: gets, cancel: cancels }[method]
    const planned = outcomes[this.#counts[method]++]
    const nowMs = this.#clock.now()
    const outage = outages.find(({ fromMs, forMs }) => nowMs >= fromMs && nowMs < fromMs + forMs)
    return outage?.outcome ?? planned ?? { kind: 'response', afterMs: usualMs }
  }
}

function asTestCase(status: string, index: number): object {
  return { title: `case ${index + 1}`, status, durationMs: 10 }
}

const NEVER = Number.POSITIVE_INFINITY

/** A quarter of a request's time goes into the connection; after half of it the service has accepted the request. */
function timelineOf<T>(outcome: NetworkOutcome, serve: () => T): RequestTimeline<T> {
  const ms = 'afterMs' in outcome ? outcome.afterMs : 100
  const whole: RequestTimeline<T> = { sentAfterMs: ms / 4, servedAfterMs: ms / 2, serve, respondsAfterMs: ms }
  const loss: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
  switch (outcome.kind) {
    case 'response':
      return whole
    case 'refused':
      return { ...whole, sentAfterMs: ms, refusal: { kind: 'not-sent', reason: 'connect ECONNREFUSED' } }
    case 'untrusted-certificate':
      return { ...whole, refusal: { kind: 'untrusted-certificate', code: 'CERT_HAS_EXPIRED' } }
    case 'no-connection':
      return { ...whole, sentAfterMs: NEVER }
    case 'reset':
      return { ...whole, servedAfterMs: outcome.served ? ms / 2 : NEVER, loss }
    case 'silence':
      return { ...whole, servedAfterMs: outcome.served ? ms / 2 : NEVER, respondsAfterMs: NEVER, loss }
    case 'broken':
      return { ...whole, loss: { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') } }
    case 'status': {
      const { status, retryAfterMs } = outcome
      const loss: Failure = { kind: 'status', status, retryAfterMs }
      return { ...whole, servedAfterMs: outcome.served ? ms / 2 : NEVER, loss }
    }
  }
}
