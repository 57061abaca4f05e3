import { StringDecoder } from 'node:string_decoder'

// Text as the runner reads it. It is a .NET program, whose ideas of white space and letters are not JavaScript's.

/** With U+0085, without U+FEFF. */
export const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'

const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g')

export function trim(text: string): string {
  return text.replace(OUTER_SPACE, '')
}

/** Names that differ only in case are one. It stays as it was written first. */
export function setNamed(entries: Map<string, string>, name: string, value: string): void {
  const upper = name.toUpperCase()
  entries.set([...entries.keys()].find((known) => known.toUpperCase() === upper) ?? name, value)
}

/** Splits text at `\n`, `\r\n` and a lone `\r`. */
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
  #isFirst = true
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
    // A byte order mark at the beginning is none of the text.
    const dropped = this.#isFirst ? '\ufeff' : this.#endedWithReturn ? '\n' : undefined
    const fresh = dropped !== undefined && text.startsWith(dropped) ? text.slice(1) : text
    this.#isFirst = false
    this.#endedWithReturn = text.endsWith('\r')
    const lines = (this.#rest + fresh).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line)
  }
}
