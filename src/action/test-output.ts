import { isFailure } from '../model/failure.ts'
import { type Fragment, fragment, outputLines } from '../text/safe-text.ts'
import { messageOf, untrusted } from '../text/untrusted.ts'
import { truncate, withoutTerminalSequences } from '../text/visible-text.ts'
import type { World } from './world.ts'

const SHOWN_LIMIT_BYTES = 16 * 1024 * 1024
/** A part becomes lines piece by piece, because its lines take many times its memory. */
const SLICE_CHARS = 16 * 1024
const LINE_LIMIT_CHARS = 10_000
const MASKS_LIMIT = 1_000
/** A shorter value would hide parts of many words. */
const SHORTEST_MASK_CHARS = 4
/** The runner obeys a command at the start of a line, after blanks. */
const MASK_COMMAND = /^[\s\u0085]*::add-mask(?: .*?)?::(.*)/is

/** Shows the output of the tests in the log while they run. Whatever the service sends, it costs at most the output. */
export class TestOutput {
  readonly #runId: string
  readonly #world: World
  readonly #masks = new Set<string>()
  #isOver: boolean
  #availableBytes = 0
  #readBytes = 0
  #shownBytes = 0
  /** The beginning of a line whose end has not been read. */
  #line = ''

  constructor(runId: string, isWanted: boolean, world: World) {
    this.#runId = runId
    this.#world = world
    this.#isOver = !isWanted || world.service.output === undefined
  }

  /** Reads until it has this number of bytes, or until this time. At the end, the last line is shown even without its end. */
  async read(bytes: number | undefined, untilMs: number, isEnd = false): Promise<void> {
    this.#availableBytes = bytes ?? this.#availableBytes
    try {
      await this.#readParts(untilMs)
      if (!isEnd) return
      if (this.#line !== '') this.#write('\n')
      const missingBytes = this.#availableBytes - this.#readBytes
      if (missingBytes > 0)
        this.#stop(fragment`the end of the output is missing, because ${missingBytes} bytes could not be read in time.`)
    } catch (cause) {
      // A bug in here must not change the verdict.
      this.#stop(fragment`the output of the tests is not shown any more: ${messageOf(cause)}.`)
    }
  }

  async #readParts(untilMs: number): Promise<void> {
    const { service, clock, signal } = this.#world
    while (!this.#isOver && !signal.aborted && this.#readBytes < this.#availableBytes && clock.now() < untilMs) {
      const options = { signal, limitMs: untilMs - clock.now() }
      const part = await service.output?.(this.#runId, this.#readBytes, options)
      // After a failure, main tries again after the next poll. No new byte comes if the last character is not complete yet.
      if (part === undefined || isFailure(part) || part.next === this.#readBytes) return
      this.#readBytes = part.next
      const text = String(part.text)
      this.#shownBytes += Buffer.byteLength(text)
      if (this.#shownBytes <= SHOWN_LIMIT_BYTES)
        for (let from = 0; from < text.length; from += SLICE_CHARS) this.#write(text.slice(from, from + SLICE_CHARS))
      else
        this.#stop(
          fragment`there is more output. The log shows at most 16 MiB. So far there are ${Math.max(this.#availableBytes, this.#readBytes)} bytes in all.`,
        )
    }
  }

  /** Shows nothing more, and says why. */
  #stop(why: Fragment): void {
    if (!this.#isOver) this.#world.log.info(fragment`Run ${this.#runId}: ${why}`)
    this.#isOver = true
    this.#line = ''
  }

  /** Writes whole lines. The last part waits until its line has ended. */
  #write(text: string): void {
    const { service, log } = this.#world
    // Two parts may each have a half of the key. A CR at the end may be the first half of a line end.
    const lines = service.redact(this.#line + text).split(/\r\n|\n|\r(?!$)/)
    // Longer lines are cut, so the rest of a long line is not kept. A character has up to two UTF-16 units.
    this.#line = (lines.pop() ?? '').slice(0, 2 * (LINE_LIMIT_CHARS + 1))
    const shown = lines.filter((line) => !this.#isMask(line))
    if (shown.length > 0) log.info(outputLines(shown.map((line) => untrusted(truncate(line, LINE_LIMIT_CHARS)))))
  }

  /** If the line masks a value, gives the value to the runner, which hides it in all that comes later. */
  #isMask(line: string): boolean {
    const [, data = ''] = MASK_COMMAND.exec(withoutTerminalSequences(line)) ?? []
    // The runner masks each line of a value too, however short it is. So each line is a value of its own here.
    const lines = data
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%25', '%')
      .split(/[\r\n]/)
    const values = lines.map((value) => value.trim()).filter((value) => [...value].length >= SHORTEST_MASK_CHARS)
    for (const value of values) {
      if (this.#masks.has(value) || this.#masks.size >= MASKS_LIMIT) continue
      this.#masks.add(value)
      this.#world.mask(value)
    }
    return values.length > 0
  }
}
