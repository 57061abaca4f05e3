import { type Failure, isFailure } from '../model/failure.ts'
import { isFinished, type Run } from '../model/run.ts'
import { failureReason } from '../report/failure-text.ts'
import type { ServiceClient } from '../service/client.ts'
import { type Fragment, fragment, outputLines } from '../text/safe-text.ts'
import { messageOf, rawText, untrusted } from '../text/untrusted.ts'
import { truncate } from '../text/visible-text.ts'
import { pauseMs } from './pauses.ts'
import { TestMasks } from './test-masks.ts'
import type { World } from './world.ts'

const SHOWN_LIMIT_BYTES = 16 * 1024 * 1024
/** A part of the output may have 16 MiB. It is split into lines slice by slice, because lines take many times the memory of their text. */
const SLICE_CHARS = 16 * 1024
const LINE_LIMIT_CHARS = 10_000
const REST_LIMIT_MS = 10_000

/** Shows the output of the tests in the log while they run. If the output cannot be read or shown, only the log is incomplete. */
export class TestOutput {
  readonly #runId: string
  readonly #world: World
  readonly #masks: TestMasks
  /** Undefined if the output is not wanted, and when the log shows no more of it. */
  #source: ServiceClient['output']
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
    this.#source = isWanted ? world.service.output : undefined
  }

  /** Reads what is new, until this time. After a failure, main reads again after the next poll. */
  async readNew(bytes: number | undefined, untilMs: number): Promise<void> {
    await this.#guard(async () => {
      this.#availableBytes = bytes ?? this.#availableBytes
      while ((await this.#readPart(untilMs)) === 'read');
    })
  }

  /** Reads the rest when no poll follows. If the run has finished, tries again for a while. The last line is shown even without its end. */
  async readRest(run: Run | undefined): Promise<void> {
    const { clock, random, signal } = this.#world
    const untilMs = clock.now() + (run !== undefined && isFinished(run) ? REST_LIMIT_MS : 0)
    await this.#guard(async () => {
      this.#availableBytes = run?.outputBytes ?? this.#availableBytes
      for (let failures = 0; ; ) {
        const result = await this.#readPart(untilMs)
        if (result === 'nothing to read') break
        if (result === 'read') continue
        failures++
        const pause = pauseMs(failures, result, random)
        if (clock.now() + pause >= untilMs) break
        await clock.sleep(pause, signal)
      }
      const lastLineEnd = '\n'
      if (this.#line !== '') this.#write(lastLineEnd)
      const missingBytes = this.#availableBytes - this.#readBytes
      const why = this.#failure
        ? fragment`. The last read failed, because ${failureReason(this.#failure)}`
        : fragment` in time`
      if (missingBytes > 0)
        this.#stop(fragment`the end of the output is missing, because ${missingBytes} bytes could not be read${why}.`)
    })
  }

  /** A bug in here must not change the verdict. */
  async #guard(task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (cause) {
      this.#stop(fragment`the output of the tests is not shown any more: ${messageOf(cause)}.`)
    }
  }

  async #readPart(untilMs: number): Promise<'read' | 'nothing to read' | Failure> {
    const { clock, signal } = this.#world
    const limitMs = untilMs - clock.now()
    const isWhole = this.#readBytes >= this.#availableBytes
    if (this.#source === undefined || isWhole || limitMs <= 0 || signal.aborted) return 'nothing to read'
    const part = await this.#source(this.#runId, this.#readBytes, { signal, limitMs })
    this.#failure = isFailure(part) ? part : undefined
    if (isFailure(part)) return part
    // The last character is not complete yet.
    if (part.next === this.#readBytes) return 'nothing to read'
    this.#readBytes = part.next
    this.#show(rawText(part.text))
    return 'read'
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

  /** Shows nothing more, and says why. */
  #stop(why: Fragment): void {
    if (this.#source !== undefined) this.#world.log.info(fragment`Run ${this.#runId}: ${why}`)
    this.#source = undefined
    this.#line = ''
  }

  /** Writes whole lines. The last part waits until its line has ended. */
  #write(text: string): void {
    const { service, log } = this.#world
    // Two parts may each have a half of the key. A CR at the end may be the first half of a line end.
    const lines = service.redact(this.#line + text).split(/\r\n|\n|\r(?!$)/)
    // Longer lines are cut, so the rest of a long line is not kept. A character has up to two UTF-16 units.
    this.#line = (lines.pop() ?? '').slice(0, 2 * (LINE_LIMIT_CHARS + 1))
    const shown = lines.filter((line) => !this.#masks.take(line)).map((line) => truncate(line, LINE_LIMIT_CHARS))
    if (shown.length > 0) log.info(outputLines(shown.map(untrusted), service.redact))
  }
}
