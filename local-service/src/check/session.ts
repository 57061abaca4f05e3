import type { Exchange, Request, Send } from './exchange.ts'

/** All effects of the check: requests, time and messages. */
export interface Effects {
  readonly send: Send
  nowMs(): number
  /** Rejects if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  say(line: string): void
}

export const LIMITS = {
  timeoutMs: 600_000,
  /** How long a cancelled run may take to end. */
  cancelMs: 60_000,
  /** How long a run may be unreadable before the check gives it up. */
  unreadableMs: 15_000,
  /** How long the check cancels what it started. */
  cleanUpMs: 30_000,
  /** How long one request may take while the check cancels what it started. */
  cleanUpRequestMs: 2500,
  /** How long the check awaits a start in flight after Ctrl-C or the end of its time. The response has the run's id. */
  lateStartMs: 4000,
  /** How long everything may take after Ctrl-C. */
  afterCtrlCMs: 9000,
  pollMs: 500,
  heartbeatMs: 30_000,
}

export type Limits = Readonly<typeof LIMITS>

const FAILURES_LIMIT = 3
const ATTEMPTS_LIMIT = 5

/** No more requests are sent. The rules are judged by what was seen so far. */
export class EndedEarly extends Error {}

/** The time of --timeout is up. */
export class TimeUp extends EndedEarly {}

/** Sends the requests of one check, one after the other, within its time. Keeps every exchange. */
export class Session {
  readonly exchanges: Exchange[] = []
  readonly limits: Limits
  readonly #effects: Effects
  readonly #timeUpAtMs: number
  readonly #ctrlC: AbortSignal
  /** Aborts on Ctrl-C, or when the time is up. */
  readonly #requestsMustEnd: AbortSignal
  readonly #startsMustEnd: AbortSignal
  readonly #everythingMustEnd: AbortSignal
  readonly #said = new Set<string>()
  #saidAtMs: number

  constructor(effects: Effects, limits: Limits, ctrlC: AbortSignal) {
    this.limits = limits
    this.#effects = effects
    this.#saidAtMs = effects.nowMs()
    this.#timeUpAtMs = effects.nowMs() + limits.timeoutMs
    this.#ctrlC = ctrlC
    this.#requestsMustEnd = AbortSignal.any([ctrlC, AbortSignal.timeout(limits.timeoutMs)])
    this.#startsMustEnd = later(this.#requestsMustEnd, limits.lateStartMs)
    this.#everythingMustEnd = later(ctrlC, limits.afterCtrlCMs)
  }

  /** If a request gets 429, it is sent again, because this response shows nothing. */
  async send(request: Request): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      this.#ctrlC.throwIfAborted()
      if (this.#requestsMustEnd.aborted || this.nowMs() >= this.#timeUpAtMs) {
        throw new TimeUp('The time is over. Give the check more time with --timeout.')
      }
      const signal = request.endpoint === 'start' ? this.#startsMustEnd : this.#requestsMustEnd
      const exchange = await this.#exchange(request, signal)
      const failures = this.exchanges.filter(({ failure }) => failure !== undefined).length
      if (failures >= FAILURES_LIMIT) throw new EndedEarly(`${failures} requests got no complete response.`)
      if (exchange.response?.status !== 429 || attempt === ATTEMPTS_LIMIT) return exchange
      const seconds = Number(exchange.response.headers['retry-after'] ?? attempt)
      await this.#effects.sleep(Math.min(seconds || attempt, 30) * 1000, this.#ctrlC)
    }
  }

  /** Sends a request also if the time is up, and for some seconds after Ctrl-C. */
  sendLate(request: Request): Promise<Exchange> {
    const limit = AbortSignal.timeout(this.limits.cleanUpRequestMs)
    return this.#exchange(request, AbortSignal.any([this.#everythingMustEnd, limit]))
  }

  /** Whether not even a late request may be sent. */
  get isOver(): boolean {
    return this.#everythingMustEnd.aborted
  }

  nowMs(): number {
    return this.#effects.nowMs()
  }

  /** The longer the check has waited, the longer it waits before the next request. */
  async pause(sinceMs: number): Promise<void> {
    const waitedMs = this.nowMs() - sinceMs
    if (this.nowMs() - this.#saidAtMs > this.limits.heartbeatMs) {
      this.say(`The check has waited for ${Math.round(waitedMs / 1000)} s.`)
    }
    const { pollMs } = this.limits
    await this.#effects.sleep(Math.min(Math.max(waitedMs / 20, pollMs), 10 * pollMs), this.#ctrlC)
  }

  async pauseLate(ms: number): Promise<void> {
    await this.#effects.sleep(ms, this.#everythingMustEnd).catch(() => undefined)
  }

  /** Says each line only once. */
  say(line: string): void {
    if (this.#said.has(line)) return
    this.#said.add(line)
    this.#saidAtMs = this.nowMs()
    this.#effects.say(line)
  }

  async #exchange(request: Request, signal: AbortSignal): Promise<Exchange> {
    const index = this.exchanges.length
    const sent: Exchange = { ...request, index, atMs: this.nowMs() }
    // The exchange stands in the list before it is sent, so that a start in flight is not forgotten.
    this.exchanges.push(sent)
    const reply = await this.#effects.send(request, signal)
    const exchange = { ...sent, ...reply, durationMs: this.nowMs() - sent.atMs }
    this.exchanges[index] = exchange
    return exchange
  }
}

/** Aborts some time after another signal. */
function later(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true })
  return controller.signal
}
