import { type Failure, isFailure } from '../../src/model/failure.ts'
import type { Run } from '../../src/model/run.ts'
import type { ServiceClient } from '../../src/service/client.ts'
import { decodeRun } from '../../src/service/decode.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { FakeService, NOT_LISTED, type Reply, type SentRequest, statusFailure } from '../support/fake-service.ts'
import { NEVER, type NetworkOutcome, type SimulationPlan } from './random-plans.ts'

export const RUN_ID = 'run-7'

type Method = Exclude<SentRequest['method'], 'output'>

export interface ModelRun {
  readonly id: string
  readonly isGiven: boolean
  readonly acceptedAtMs: number
  cancelAcceptedAtMs?: number
}

export interface ObservedResponse {
  readonly method: Method
  readonly atMs: number
  readonly failure?: Failure
  readonly runId?: string
  readonly run?: Run
  readonly isListed?: boolean
}

/** A model of a test run service behind a network that can do anything to a request. */
export class ModelService {
  readonly runs: ModelRun[] = []
  readonly #clock: FakeClock
  readonly #plan: SimulationPlan['service']
  readonly #counts = { start: 0, get: 0, cancel: 0 }
  #emptyListsLeft: number

  constructor(clock: FakeClock, plan: SimulationPlan['service']) {
    this.#clock = clock
    this.#plan = plan
    this.#emptyListsLeft = plan.emptyLists
    if (plan.isGiven) this.runs.push({ id: RUN_ID, isGiven: true, acceptedAtMs: clock.now() })
  }

  get run(): ModelRun | undefined {
    return this.runs[0]
  }

  client(onResponse: (response: ObservedResponse) => void): ServiceClient {
    const service = new FakeService(
      this.#clock,
      {
        start: () => timelineOf<string>(this.#nextOutcome('start'), () => this.#start()),
        get: (runId) => timelineOf<Run>(this.#nextOutcome('get'), () => this.#get(runId)),
        cancel: this.#plan.hasCancel
          ? (runId) => timelineOf<true>(this.#nextOutcome('cancel'), () => this.#cancel(runId))
          : undefined,
      },
      this.#plan.failureLimitMs,
    )
    const observe = async <T>(method: Method, request: Promise<T>, name: keyof ObservedResponse): Promise<T> => {
      const response = await request
      onResponse({ method, atMs: this.#clock.now(), [isFailure(response) ? 'failure' : name]: response })
      return response
    }
    const { cancel } = service
    return {
      failureLimitMs: service.failureLimitMs,
      start: (order, options) => observe('start', service.start(order, options), 'runId'),
      get: (runId, options) => observe('get', service.get(runId, options), 'run'),
      ...(cancel && { cancel: (runId, options) => observe('cancel', cancel(runId, options), 'isListed') }),
      redact: service.redact,
    }
  }

  statusOf(run: ModelRun): string {
    const { queuedMs, runningMs, end, oddStatus } = this.#plan.run
    const nowMs = this.#clock.now()
    const startsAtMs = run.acceptedAtMs + queuedMs
    const endsAtMs = startsAtMs + runningMs
    const stopsAtMs = (run.cancelAcceptedAtMs ?? NEVER) + this.#plan.stopsAfterMs
    if (nowMs >= Math.min(endsAtMs, stopsAtMs)) return endsAtMs <= stopsAtMs ? end : 'CANCELLED'
    if (nowMs < startsAtMs) return 'QUEUED'
    return oddStatus !== undefined && nowMs >= startsAtMs + runningMs / 2 ? oddStatus : 'RUNNING'
  }

  isFinished(run: ModelRun): boolean {
    return !['QUEUED', 'RUNNING', this.#plan.run.oddStatus].includes(this.statusOf(run))
  }

  #start(): string {
    this.runs.push({ id: RUN_ID, isGiven: false, acceptedAtMs: this.#clock.now() })
    return RUN_ID
  }

  #get(runId: string): Run | Failure {
    const run = this.#find(runId, this.#plan.unknownToGetForMs)
    if (run === undefined) return statusFailure(404)
    const { cases } = this.#plan.run
    const testCases = cases?.map((status, index) => ({ title: `case ${index + 1}`, status, durationMs: 10 }))
    const end = { finishedAt: '2026-01-01T00:00:00.000Z', results: testCases && { testCases } }
    const status = this.statusOf(run)
    const json = { status, startedAt: null, ...(this.isFinished(run) && end) }
    return decodeRun(json, JSON.stringify(json), (text) => text)
  }

  #cancel(runId: string): true | Failure {
    const run = this.#find(runId, this.#plan.unknownToCancelForMs)
    if (run === undefined) return statusFailure(404)
    if (this.isFinished(run)) {
      const { responseWhenFinished } = this.#plan
      return responseWhenFinished === 'empty list' ? NOT_LISTED : statusFailure(responseWhenFinished)
    }
    if (this.#emptyListsLeft > 0) {
      this.#emptyListsLeft--
      return NOT_LISTED
    }
    run.cancelAcceptedAtMs ??= this.#clock.now()
    return true
  }

  #find(runId: string, unknownForMs: number): ModelRun | undefined {
    const run = this.runs.find(({ id }) => id === runId)
    const isKnown = run !== undefined && (run.isGiven || this.#clock.now() >= run.acceptedAtMs + unknownForMs)
    return isKnown ? run : undefined
  }

  #nextOutcome(method: Method): NetworkOutcome {
    const { outcomes, outages, usualMs } = this.#plan
    const planned = outcomes[method][this.#counts[method]++]
    const nowMs = this.#clock.now()
    const outage = outages.find(({ fromMs, forMs }) => nowMs >= fromMs && nowMs < fromMs + forMs)
    return outage?.outcome ?? planned ?? { afterMs: usualMs }
  }
}

/** The connection takes a quarter of a request's time. After half of the time, the service has accepted the request. */
function timelineOf<T>({ afterMs, refusal, loss, isServed }: NetworkOutcome, serve: () => T | Failure): Reply<T> {
  return {
    sentAfterMs: refusal === 'silence' ? NEVER : afterMs / 4,
    refusal: refusal === 'silence' ? undefined : refusal,
    servedAfterMs: loss === undefined || isServed ? afterMs / 2 : NEVER,
    serve,
    respondsAfterMs: loss === 'silence' ? NEVER : afterMs,
    loss: loss === 'silence' ? undefined : loss,
  }
}
