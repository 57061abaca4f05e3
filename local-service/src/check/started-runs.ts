import type { Exchange, Request } from './exchange.ts'
import {
  cancelledIn,
  FINAL_STATUSES,
  isAccepted,
  isUnfinished,
  jsonOf,
  type Run,
  runsIn,
  STATUSES,
  show,
  startedId,
} from './observations.ts'
import { cancelOf, cancelWithoutWhere, type RunAddress, readOf, startOf } from './requests.ts'
import type { Session } from './session.ts'

/** What is special about a request. */
export type Special = Pick<Request, 'probe' | 'credentials'>

/** Starts, reads, awaits and cancels the runs of one check. */
export class StartedRuns {
  readonly #session: Session
  #mayStart = true
  /** If one run could not be read for too long, the check waits for no other run. */
  #isUnreadable = false

  constructor(session: Session) {
    this.#session = session
  }

  /** False as soon as the id of a run could not be read. The check could not cancel such runs. */
  get mayStart(): boolean {
    return this.#mayStart
  }

  all(): Run[] {
    return runsIn(this.#session.exchanges)
  }

  async start(path: string, body: object | string | Buffer, special: Special = {}) {
    if (!this.#mayStart) return {}
    const exchange = await this.#session.send({ ...startOf(path, body), ...special })
    const id = startedId(exchange)
    if (id === undefined && (isAccepted(exchange) || exchange.response === undefined)) {
      this.#mayStart = false
      this.#session.say('The id of a run could not be read. The check starts no more runs.')
    }
    const run = this.all().find((one) => one.id === id)
    if (run === undefined) return { exchange }
    await this.read(run)
    return { exchange, run: this.#current(run) }
  }

  /** Starts a run. If the service accepts the start, ends the run at once. */
  async startAndEnd(path: string, body: object | string | Buffer, special: Special): Promise<Exchange | undefined> {
    const { exchange, run } = await this.start(path, body, special)
    if (run !== undefined) await this.end(run)
    return exchange
  }

  async read(run: RunAddress, special: Special = {}): Promise<Exchange> {
    const exchange = await this.#session.send({ ...readOf(run), ...special })
    const { response, failure } = exchange
    const { status = response?.status ?? failure } = jsonOf(exchange)
    if (special.probe === undefined) this.#session.say(`Run ${show(run.id)}: ${show(status)}`)
    return exchange
  }

  async cancel(run: RunAddress, special: Special = {}): Promise<Exchange> {
    return this.#cancel({ ...cancelOf(run), ...special })
  }

  async cancelWithoutWhere(path: string, special: Special): Promise<Exchange> {
    return this.#cancel({ ...cancelWithoutWhere(path), ...special })
  }

  /** Sends a cancel, then reads every run that it may have changed. */
  async #cancel(request: Request): Promise<Exchange> {
    const exchange = await this.#session.send(request)
    for (const one of this.all().filter(isUnfinished)) await this.read(one)
    return exchange
  }

  /** Cancels a run. If the service lists the run, waits until the run is finished. */
  async end(run: Run): Promise<void> {
    await this.read(run)
    if (!isUnfinished(this.#current(run))) return
    const cancel = await this.cancel(run)
    if (cancelledIn(cancel).includes(run.id)) await this.waitForEnd(run, this.#session.limits.cancelMs)
  }

  waitForEnd(run: Run, limitMs = Infinity): Promise<boolean> {
    return this.waitUntil(run, (status) => FINAL_STATUSES.includes(status), limitMs)
  }

  /** Returns whether the run has finished. Also returns if the run cannot be read for too long. */
  async waitUntil(run: Run, isReached: (status: unknown) => boolean, limitMs: number): Promise<boolean> {
    const sinceMs = this.#session.nowMs()
    for (let readableAtMs = sinceMs; ; await this.#session.pause(sinceMs)) {
      const { status } = jsonOf(await this.read(run))
      const nowMs = this.#session.nowMs()
      if (FINAL_STATUSES.includes(status)) return true
      if (STATUSES.includes(status)) readableAtMs = nowMs
      if (STATUSES.includes(status) && isReached(status)) return false
      if (nowMs - readableAtMs > this.#session.limits.unreadableMs) this.#isUnreadable = true
      if (this.#isUnreadable || nowMs - sinceMs >= limitMs) return false
    }
  }

  /** Cancels every unfinished run, and reads it until it has finished. No rule is judged by these exchanges. */
  async cleanUp(): Promise<void> {
    const { limits } = this.#session
    const endsAtMs = this.#session.nowMs() + limits.cleanUpMs
    for (let attempt = 1; ; attempt++) {
      const runs = this.all().filter(isUnfinished)
      if (runs.length === 0 || this.#session.isOver || this.#session.nowMs() >= endsAtMs) return
      if (this.#isUnreadable && attempt > 2) return
      this.#session.say(`The check cancels what has not finished: ${runs.length} of its runs.`)
      await Promise.all(
        runs.map(async (run) => {
          await this.#session.sendLate(cancelOf(run))
          await this.#session.sendLate(readOf(run))
        }),
      )
      if (this.all().some(isUnfinished)) await this.#session.pauseLate(attempt * limits.pollMs)
    }
  }

  #current(run: Run): Run {
    return this.all().find(({ id }) => id === run.id) ?? run
  }
}
