import { type Failure, isFailure } from '../model/failure.ts'
import { isFinished, type Run } from '../model/run.ts'
import { failureReason } from '../report/failure-text.ts'
import { type Fragment, fragment, outputLines } from '../text/safe-text.ts'
import { messageOf, rawText, untrusted } from '../text/untrusted.ts'
import { truncate } from '../text/visible-text.ts'
import { pauseMs } from './pauses.ts'
import { isMaskCommand, TestMasks } from './test-masks.ts'
import type { World } from './world.ts'

const SHOWN_LIMIT_BYTES = 16 * 1024 * 1024
/** A part of the output may have 16 MiB. It is split into lines slice by slice, because lines take many times the memory of their text. */
const SLICE_CHARS = 16 * 1024
const LINE_LIMIT_CHARS = 10_000
/** `truncate` adds its ellipsis only if the line has more characters than the limit, so one more is kept. A character has up to two units. */
const LINE_LIMIT_UNITS = 2 * (LINE_LIMIT_CHARS + 1)
/** Far more than the secrets of a job. All of them must be masked, so this limit is higher. */
const MASK_LINE_LIMIT_UNITS = 256 * 1024
const REST_LIMIT_MS = 10_000

/** Shows the output of the tests in the log while they run. If the output cannot be read or shown, only the log is incomplete. */
export class TestOutput {
  readonly #runId: string
  readonly #world: World
  readonly #masks: TestMasks
  /** Whether main reads and shows no more output. True from the beginning if the output is not wanted, or if the service has none. */
  #isStopped: boolean
  #availableBytes = 0
  #readBytes = 0
  #shownBytes = 0
  /** Why the last read failed. Undefined if it succeeded. */
  #failure: Failure | undefined
  /** The beginning of a line whose end has not been read. */
  #line = ''

  constructor(runId: string, isWanted: boolean, world: World) {
    this.#runId = runId
    this.#world = world
    this.#masks = new TestMasks(world)
    this.#isStopped = !isWanted || world.service.output === undefined
  }

  /** Reads what is new, until this time. After a failure, main reads again after the next poll. */
  async readNew(bytes: number | undefined, untilMs: number): Promise<void> {
    await this.#guard(async () => {
      this.#availableBytes = bytes ?? this.#availableBytes
      await this.#read(untilMs)
    })
  }

  /** Reads the rest when no poll follows, and shows the last line even without its end. Says how many bytes are missing. */
  async readRest(run: Run | undefined): Promise<void> {
    await this.#guard(async () => {
      this.#availableBytes = run?.outputBytes ?? this.#availableBytes
      if (run !== undefined && isFinished(run)) await this.#readWithRetries(this.#world.clock.now() + REST_LIMIT_MS)
      if (this.#isStopped) return
      if (this.#line !== '') this.#write('\n')
      const missingBytes = this.#availableBytes - this.#readBytes
      const why = this.#failure
        ? fragment`. The last read failed, because ${failureReason(this.#failure)}`
        : fragment` in time`
      if (missingBytes > 0)
        this.#stop(fragment`the end of the output is missing, because ${missingBytes} bytes could not be read${why}.`)
    })
  }

  async #readWithRetries(untilMs: number): Promise<void> {
    const { clock, random, signal } = this.#world
    for (let tries = 1; ; tries++) {
      const failure = await this.#read(untilMs)
      if (failure === undefined) return
      const pause = pauseMs(tries, failure, random)
      if (clock.now() + pause >= untilMs) return
      await clock.sleep(pause, signal)
    }
  }

  /** A bug in here must not change the verdict. */
  async #guard(task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (cause) {
      this.#stop(fragment`the output of the tests is not shown any more: ${messageOf(cause)}.`)
    }
  }

  /** Reads part after part, until this time. Returns the failure that has ended this. */
  async #read(untilMs: number): Promise<Failure | undefined> {
    const { clock, signal, service } = this.#world
    const { output } = service
    const isWhole = () => this.#readBytes >= this.#availableBytes
    while (output !== undefined && !this.#isStopped && !isWhole() && clock.now() < untilMs && !signal.aborted) {
      const part = await output(this.#runId, this.#readBytes, { signal, limitMs: untilMs - clock.now() })
      this.#failure = isFailure(part) ? part : undefined
      if (isFailure(part)) return part
      // The rest is only a part of a character. The service sends it when the character is whole.
      if (part.next === this.#readBytes) return undefined
      this.#readBytes = part.next
      this.#show(rawText(part.text))
    }
    return undefined
  }

  #show(text: string): void {
    this.#shownBytes += Buffer.byteLength(text)
    if (this.#shownBytes > SHOWN_LIMIT_BYTES) {
      const bytes = Math.max(this.#availableBytes, this.#readBytes)
      this.#stop(fragment`there is more output. The log shows at most 16 MiB. So far there are ${bytes} bytes in all.`)
      return
    }
    for (let from = 0; from < text.length; from += SLICE_CHARS) this.#write(text.slice(from, from + SLICE_CHARS))
  }

  /** Reads and shows nothing more, and says why. */
  #stop(why: Fragment): void {
    this.#isStopped = true
    this.#world.log.info(fragment`Run ${this.#runId}: ${why}`)
  }

  /** Writes whole lines. The last part waits until its line has ended. */
  #write(text: string): void {
    const { service, log } = this.#world
    // Two parts may each have a half of the key. A CR at the end may be the first half of a line end.
    const lines = service.redact(this.#line + text).split(/\r\n|\n|\r(?!$)/)
    // Of a long line, only the beginning is kept until its end comes, so that it does not fill the memory. What is between is lost.
    const begun = lines.pop() ?? ''
    const isLongMask = begun.length > LINE_LIMIT_UNITS && isMaskCommand(begun)
    this.#line = begun.slice(0, isLongMask ? MASK_LINE_LIMIT_UNITS : LINE_LIMIT_UNITS)
    const shown = lines.filter((line) => !this.#masks.take(line)).map((line) => truncate(line, LINE_LIMIT_CHARS))
    if (shown.length > 0) log.info(outputLines(shown.map(untrusted), service.redact))
  }
}
