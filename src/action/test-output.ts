import { type Failure, isFailure } from '../model/failure.ts'
import { failureText } from '../report/failure-text.ts'
import { type Fragment, fragment, outputLines } from '../text/safe-text.ts'
import { messageOf, untrusted } from '../text/untrusted.ts'
import { truncate } from '../text/visible-text.ts'
import { OutputMasks } from './output-masks.ts'
import type { World } from './world.ts'

type OutputWorld = Pick<World, 'service' | 'clock' | 'log' | 'signal'>

/** How much of the output the log shows. */
const SHOWN_LIMIT_BYTES = 16 * 1024 * 1024
/** If a poll is due, a read in flight gets this much more time. So a poll is at most this late. */
const LATE_READ_MS = 1_000
/** How long main reads the rest of the output when the run has finished. */
const REST_LIMIT_MS = 10_000
/** A time-out counts as a failure only if the read had this long. A shorter read was cut off by the next poll. */
const ENOUGH_FOR_READ_MS = 10_000
const FAILURES_LIMIT = 3
const PAUSE_AFTER_FAILURE_MS = 500
/** A service may send one byte in each response, so the number of reads after one poll has a limit too. */
const READS_LIMIT = 100
/** Main writes a part in slices, because V8 frees shorter strings sooner. */
const SLICE_CHARS = 32 * 1024
/** Longer lines are cut. So of a line that has not ended, main keeps only its beginning. */
const LINE_LIMIT_CHARS = 10_000

/**
 * Shows the output of the tests in the log while they run. It is read between two polls. Whatever the service sends, it costs at
 * most the output.
 */
export class TestOutput {
  readonly #runId: string
  readonly #world: OutputWorld
  readonly #masks = new OutputMasks()
  #hasEnded: boolean
  #availableBytes = 0
  #readBytes = 0
  #shownBytes = 0
  /** Reads that failed without a successful read between them. */
  #failures = 0
  /** The beginning of a line whose end has not been read. */
  #line = ''

  constructor(runId: string, world: OutputWorld, isWanted: boolean) {
    this.#runId = runId
    this.#world = world
    this.#hasEnded = !isWanted || world.service.output === undefined
  }

  /** Call this after each poll, with the number of bytes that there are. Reads until it has them, or until the next poll is due. */
  async readUntil(nextPollMs: number, bytes: number | undefined): Promise<void> {
    this.#availableBytes = bytes ?? this.#availableBytes
    await this.#read(nextPollMs, LATE_READ_MS)
  }

  /** Reads the rest after the run has finished. */
  async finish(bytes: number | undefined): Promise<void> {
    const { clock, signal } = this.#world
    const untilMs = clock.now() + REST_LIMIT_MS
    this.#availableBytes = bytes ?? this.#availableBytes
    await this.#read(untilMs, 0)
    while (this.#hasMore && this.#failures > 0 && clock.now() < untilMs) {
      await clock.sleep(PAUSE_AFTER_FAILURE_MS, signal)
      await this.#read(untilMs, 0)
    }
    if (this.#hasMore) {
      const missingBytes = this.#availableBytes - this.#readBytes
      this.#endWith(
        fragment`the end of the output is missing, because ${missingBytes} bytes could not be read in time.`,
      )
    }
    this.end()
  }

  /** Writes the last line, although its end has not come, and shows no more. */
  end(): void {
    if (this.#line !== '') this.#write('\n')
    this.#hasEnded = true
  }

  get #hasMore(): boolean {
    return !this.#hasEnded && !this.#world.signal.aborted && this.#readBytes < this.#availableBytes
  }

  async #read(untilMs: number, lateMs: number): Promise<void> {
    try {
      await this.#readParts(untilMs, lateMs)
    } catch (cause) {
      // A bug in here must not change the verdict.
      this.#endWith(fragment`the output of the tests is not shown any more: ${messageOf(cause)}.`)
    }
  }

  /** No read begins after `untilMs`. A read in flight then gets `lateMs` more. */
  async #readParts(untilMs: number, lateMs: number): Promise<void> {
    const { service, clock, signal } = this.#world
    for (let reads = 0; reads < READS_LIMIT && this.#hasMore && clock.now() < untilMs; reads++) {
      const begunMs = clock.now()
      const limitMs = untilMs + lateMs - begunMs
      const part = await service.output?.(this.#runId, this.#readBytes, { signal, limitMs })
      if (part === undefined || signal.aborted) return
      if (isFailure(part)) {
        const nowMs = clock.now()
        if (nowMs < untilMs || nowMs - begunMs >= ENOUGH_FOR_READ_MS) this.#onFailure(part)
        return
      }
      this.#failures = 0
      // No new byte came, because the last character is not complete yet.
      if (part.next === this.#readBytes) return
      this.#readBytes = part.next
      this.#show(String(part.text))
    }
  }

  #onFailure(failure: Failure): void {
    this.#failures++
    if (this.#failures < FAILURES_LIMIT) return
    this.#endWith(fragment`the output of the tests is not shown any more. ${failureText(failure, 'poll')}`)
  }

  #show(text: string): void {
    const bytes = Buffer.from(text)
    const leftBytes = SHOWN_LIMIT_BYTES - this.#shownBytes
    this.#shownBytes += bytes.byteLength
    const isTooMuch = bytes.byteLength > leftBytes
    const shown = isTooMuch ? bytes.toString('utf8', 0, leftBytes) : text
    for (let from = 0; from < shown.length && !this.#hasEnded; from += SLICE_CHARS) {
      this.#write(shown.slice(from, from + SLICE_CHARS))
    }
    if (!isTooMuch) return
    // The last line is not shown, because it may end in the middle of the key.
    this.#line = ''
    const allBytes = Math.max(this.#availableBytes, this.#readBytes)
    this.#endWith(
      fragment`there is more output. The log shows the first 16 MiB. So far there are ${allBytes} bytes in all.`,
    )
  }

  #endWith(why: Fragment): void {
    this.end()
    this.#world.log.info(fragment`Run ${this.#runId}: ${why}`)
  }

  /** Writes whole lines. The last part waits until its line has ended. */
  #write(text: string): void {
    const { service, log } = this.#world
    // Two parts may each have a half of the key. So the key is looked for before a line is cut.
    const joined = service.redact(this.#line + text)
    // A CR at the end may be the first half of a line end.
    const lines = joined.split(/\r\n|\n|\r(?!$)/)
    // A character has up to two UTF-16 units.
    this.#line = (lines.pop() ?? '').slice(0, 2 * (LINE_LIMIT_CHARS + 1))
    // A value that a line masks is hidden in this line and in later lines. So the lines before it are a part of their own.
    for (const part of this.#masks.partsOf(lines)) {
      const shown = part.map((line) => untrusted(truncate(this.#masks.hide(line), LINE_LIMIT_CHARS)))
      log.info(outputLines(shown, (visible) => this.#masks.hide(service.redact(visible))))
      if (!this.#masks.areTooMany) continue
      this.#line = ''
      this.#endWith(fragment`the output of the tests is not shown any more, because it masks too many values.`)
      return
    }
  }
}
