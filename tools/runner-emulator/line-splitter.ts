import { StringDecoder } from 'node:string_decoder'

/** Splits text as the runner does: at `\n`, `\r\n` and a lone `\r`. */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Turns the chunks of one pipe into lines, wherever the chunks begin and end. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8')
  readonly #onLine: (line: string) => void
  #rest = ''
  #endedWithReturn = false

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  write(chunk: Buffer): void {
    this.#split(this.#decoder.write(chunk))
  }

  /** The pipe was closed: what is left is a line too. */
  end(): void {
    this.#split(this.#decoder.end())
    if (this.#rest !== '') this.#onLine(this.#rest)
    this.#rest = ''
  }

  #split(text: string): void {
    if (text === '') return
    // A `\r` at the end of a chunk has ended its line already; the `\n` that belongs to it must not end another.
    const fresh = this.#endedWithReturn && text.startsWith('\n') ? text.slice(1) : text
    this.#endedWithReturn = text.endsWith('\r')
    const lines = (this.#rest + fresh).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line)
  }
}
