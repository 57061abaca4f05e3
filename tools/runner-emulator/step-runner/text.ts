import { StringDecoder } from 'node:string_decoder'

// Text as the runner reads it. The runner is a .NET program. .NET and JavaScript differ in what white space and letters are.

/** U+0085 is white space here, and U+FEFF is not. */
export const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'

const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g')

export function trim(text: string): string {
  return text.replace(OUTER_SPACE, '')
}

/** Names that differ only in case are one name. It keeps the case in which it was written first. */
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

/** Joins the chunks of a pipe, and splits them into lines. */
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

  /** The pipe is closed. If text is left, it is the last line. */
  end(): void {
    this.#split(this.#decoder.end())
    if (this.#rest !== '') this.#onLine(this.#rest)
    this.#rest = ''
  }

  #split(text: string): void {
    if (text === '') return
    // If a chunk ends with `\r`, its line has ended. A `\n` at the beginning of the next chunk belongs to this `\r`.
    // A byte order mark at the beginning is not part of the text.
    const dropped = this.#isFirst ? '\ufeff' : this.#endedWithReturn ? '\n' : undefined
    const fresh = dropped !== undefined && text.startsWith(dropped) ? text.slice(1) : text
    this.#isFirst = false
    this.#endedWithReturn = text.endsWith('\r')
    const lines = (this.#rest + fresh).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line)
  }
}
