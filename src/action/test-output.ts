import { type Failure, isFailure } from '../model/failure.ts'
import type { Run } from '../model/run.ts'
import { failureText } from '../report/failure-text.ts'
import { type Fragment, fragment, outputLines } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { truncate } from '../text/visible-text.ts'
import type { World } from './world.ts'

type OutputWorld = Pick<World, 'service' | 'clock' | 'log' | 'signal'>

/** How much of the output the log shows. */
const SHOWN_LIMIT_BYTES = 16 * 1024 * 1024
/** How long main reads the rest of the output when the run has finished. */
const REST_LIMIT_MS = 10_000
const FAILURES_LIMIT = 3
const PAUSE_AFTER_FAILURE_MS = 500
/** A service may send one byte in each response, so the number of reads after one poll has a limit too. */
const READS_LIMIT = 100
/** A longer line is cut. So main keeps no more than this of a line that has not ended. */
const LINE_LIMIT_CHARS = 10_000

/**
 * Shows the output of the tests in the log while they run. It is read beside the polls, by a task of its own, so that it never
 * delays a poll. Whatever the service sends, it costs at most the output.
 */
export class TestOutput {
  readonly #runId: string
  readonly #world: OutputWorld
  /** Aborts when no more output is shown. This also ends the read in flight. */
  readonly #over = new AbortController()
  /** The task that reads. Undefined while nothing is read. */
  #reading: Promise<void> | undefined
  /** No read begins after this time. */
  #untilMs = 0
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
    if (!isWanted || world.service.output === undefined || world.signal.aborted) this.#over.abort()
    else world.signal.addEventListener('abort', () => this.#over.abort(), { signal: this.#over.signal })
  }

  /** Call this after each poll. Reads until it has all that the poll says there is, or until the next poll is due. */
  onRun({ outputBytes }: Run, nextPollMs: number): void {
    this.#availableBytes = outputBytes ?? this.#availableBytes
    this.#untilMs = nextPollMs
    if (this.#hasMore) this.#startReading()
  }

  /** Reads the rest after the run has finished. */
  async finish(run: Run): Promise<void> {
    const { clock } = this.#world
    // A read that began before the run had finished must end by then, too.
    clock.timeout(REST_LIMIT_MS).addEventListener('abort', () => this.#over.abort(), { signal: this.#over.signal })
    this.onRun(run, clock.now() + REST_LIMIT_MS)
    await this.#reading
    while (this.#hasMore && this.#failures > 0) {
      await clock.sleep(PAUSE_AFTER_FAILURE_MS, this.#over.signal)
      await this.#startReading()
    }
    this.end()
  }

  /** Writes the last line, although its end has not come, and shows no more. */
  end(): void {
    if (this.#line !== '') this.#write('\n')
    this.#over.abort()
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted
  }

  get #hasMore(): boolean {
    return !this.#isOver && this.#readBytes < this.#availableBytes && this.#world.clock.now() < this.#untilMs
  }

  #startReading(): Promise<void> {
    this.#reading ??= this.#read()
      // A bug in here must not change the verdict.
      .catch((cause) => this.#endWith(fragment`the output of the tests is not shown any more: ${messageOf(cause)}.`))
      .finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #read(): Promise<void> {
    const { service } = this.#world
    for (let reads = 0; reads < READS_LIMIT && this.#hasMore; reads++) {
      const part = await service.output?.(this.#runId, this.#readBytes, { signal: this.#over.signal })
      if (part === undefined || this.#isOver) return
      if (isFailure(part)) return this.#onFailure(part)
      this.#failures = 0
      // A character at the end may not be complete yet.
      if (part.next === this.#readBytes) return
      this.#readBytes = part.next
      this.#show(part.text)
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
    this.#write(isTooMuch ? bytes.toString('utf8', 0, leftBytes) : text)
    if (!isTooMuch) return
    // The last line is not shown, because it may end in the middle of the key.
    this.#line = ''
    const allBytes = Math.max(this.#availableBytes, this.#readBytes)
    this.#endWith(fragment`there is more output. The log shows the first 16 MiB of ${allBytes} bytes in all.`)
  }

  #endWith(why: Fragment): void {
    this.end()
    this.#world.log.info(fragment`Run ${this.#runId}: ${why}`)
  }

  /** Writes whole lines. The last part waits until its line has ended. */
  #write(text: string): void {
    // Two parts may each have a half of the key. So the key is looked for before a line is cut.
    const joined = this.#world.service.redact(this.#line + text)
    // A CR at the end may be the first half of a line end.
    const lines = joined.split(/\r\n|\n|\r(?!$)/)
    // A character has up to two UTF-16 units.
    this.#line = (lines.pop() ?? '').slice(0, 2 * (LINE_LIMIT_CHARS + 1))
    if (lines.length > 0)
      this.#world.log.info(
        outputLines(
          lines.map((line) => truncate(line, LINE_LIMIT_CHARS)),
          this.#world.service.redact,
        ),
      )
  }
}
