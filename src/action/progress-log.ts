import type { Failure } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import { failureSentence } from '../report/failure-text.ts'
import { durationText } from '../text/duration.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import type { World } from './world.ts'

type LogWorld = Pick<World, 'clock' | 'log' | 'abort'>

const HEARTBEAT_MS = 60_000

/** A log that is quiet, but never silent for much longer than a minute. */
export class QuietLog {
  readonly #world: LogWorld
  #lastLineMs: number

  constructor(world: LogWorld, lastLineMs: number) {
    this.#world = world
    this.#lastLineMs = lastLineMs
  }

  get isHeartbeatDue(): boolean {
    return this.#world.clock.now() - this.#lastLineMs >= HEARTBEAT_MS
  }

  write(message: LogLine): void {
    this.#world.log.info(message)
    this.#lastLineMs = this.#world.clock.now()
  }

  /** Pauses until then, or until the step is cancelled. A pause that lasts writes a heartbeat about once a minute. */
  async pause(untilMs: number, heartbeat: () => LogLine): Promise<void> {
    const { clock, abort } = this.#world
    while (!abort.aborted && clock.now() < untilMs) {
      if (this.isHeartbeatDue) this.write(heartbeat())
      await clock.sleep(Math.min(untilMs, this.#lastLineMs + HEARTBEAT_MS) - clock.now(), abort)
    }
  }
}

/** What the log shows of a wait: a line when the status changes, and when the service stops or begins to respond. */
export class ProgressLog {
  readonly #runId: string
  readonly #world: LogWorld
  readonly #log: QuietLog
  readonly #startedMs: number
  #lastFailureLineMs = Number.NEGATIVE_INFINITY
  #run: Run | undefined
  #failure: Failure | undefined
  #isFailureLogged = false
  #hasWarnedOfUnknown = false

  constructor(runId: string, world: LogWorld) {
    this.#runId = runId
    this.#world = world
    this.#startedMs = world.clock.now()
    this.#log = new QuietLog(world, this.#startedMs)
  }

  onRun(run: Run): void {
    if (this.#isFailureLogged) this.#world.log.info(logLine`Run ${this.#runId}: the service responds again.`)
    this.#failure = undefined
    this.#isFailureLogged = false
    if (run.rawStatus !== this.#run?.rawStatus) this.#log.write(logLine`Run ${this.#runId}: ${run.rawStatus}`)
    this.#run = run
    if (run.status !== 'UNKNOWN' || isTerminal(run) || this.#hasWarnedOfUnknown) return
    this.#hasWarnedOfUnknown = true
    this.#world.log.warning(
      logLine`Run ${this.#runId} has the status ${run.rawStatus}, which this version of the action does not know. The step keeps waiting, because the run has no finishing time yet.`,
    )
  }

  /** The first failure of a streak is logged, but a service that fails every other poll must not fill the log. */
  onPollFailed(failure: Failure): void {
    const isFirst = this.#failure === undefined
    this.#failure = failure
    if (!isFirst || this.#world.clock.now() - this.#lastFailureLineMs < HEARTBEAT_MS) return
    this.#log.write(this.#failureLine(logLine`status request failed; retrying for up to 5 min.`, failure))
  }

  pause(untilMs: number): Promise<void> {
    return this.#log.pause(untilMs, () => {
      const waited = durationText(this.#world.clock.now() - this.#startedMs)
      return this.#failure === undefined
        ? logLine`Run ${this.#runId}: still ${this.#run?.rawStatus ?? 'waiting'} after ${waited}.`
        : this.#failureLine(logLine`status still unavailable after ${waited}.`, this.#failure)
    })
  }

  #failureLine(what: LogLine, failure: Failure): LogLine {
    this.#isFailureLogged = true
    this.#lastFailureLineMs = this.#world.clock.now()
    return logLine`Run ${this.#runId}: ${what} ${failureSentence(failure, 'poll')}`
  }
}
