import type { Clock } from '../clock.ts'
import type { Failure } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import { failureSentence } from '../report/failure-text.ts'
import { durationText } from '../text/duration.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import type { Log } from './world.ts'

/** One line when the status changes, and this often while it does not. */
export const HEARTBEAT_MS = 60_000

/** What the log shows of a wait: quiet, but never silent for much longer than a minute. */
export class ProgressLog {
  readonly #runId: string
  readonly #log: Log
  readonly #clock: Clock
  readonly #startedMs: number
  #lastLineMs: number
  #lastFailureLineMs = Number.NEGATIVE_INFINITY
  #run: Run | undefined
  #failure: Failure | undefined
  #isFailureLogged = false
  #hasWarnedOfUnknown = false

  constructor(runId: string, log: Log, clock: Clock) {
    this.#runId = runId
    this.#log = log
    this.#clock = clock
    this.#startedMs = this.#lastLineMs = clock.now()
  }

  /** When the next heartbeat is due, on the clock's `now()`. */
  get heartbeatMs(): number {
    return this.#lastLineMs + HEARTBEAT_MS
  }

  onRun(run: Run): void {
    if (this.#isFailureLogged) this.#log.info(logLine`Run ${this.#runId}: the service responds again.`)
    this.#failure = undefined
    this.#isFailureLogged = false
    if (run.rawStatus !== this.#run?.rawStatus) this.#write(logLine`Run ${this.#runId}: ${run.rawStatus}`)
    this.#run = run
    if (run.status !== 'UNKNOWN' || isTerminal(run) || this.#hasWarnedOfUnknown) return
    this.#hasWarnedOfUnknown = true
    this.#log.warning(
      logLine`Run ${this.#runId} has the status ${run.rawStatus}, which this version of the action does not know. The step keeps waiting, because the run has no finishing time yet.`,
    )
  }

  /** The first failure of a streak is logged, but a service that fails every other poll must not fill the log. */
  onPollFailed(failure: Failure): void {
    const isFirst = this.#failure === undefined
    this.#failure = failure
    if (!isFirst || this.#clock.now() - this.#lastFailureLineMs < HEARTBEAT_MS) return
    this.#writeFailure(logLine`Run ${this.#runId}: status request failed; retrying.`, failure)
  }

  onHeartbeat(): void {
    const waited = durationText(this.#clock.now() - this.#startedMs)
    if (this.#failure === undefined) {
      this.#write(logLine`Run ${this.#runId}: still ${this.#run?.rawStatus ?? 'waiting'} after ${waited}.`)
    } else {
      this.#writeFailure(logLine`Run ${this.#runId}: status still unavailable after ${waited}.`, this.#failure)
    }
  }

  #writeFailure(message: LogLine, failure: Failure): void {
    this.#write(logLine`${message} ${failureSentence(failure, 'poll')}`)
    this.#isFailureLogged = true
    this.#lastFailureLineMs = this.#clock.now()
  }

  #write(message: LogLine): void {
    this.#log.info(message)
    this.#lastLineMs = this.#clock.now()
  }
}
