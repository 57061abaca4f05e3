/** A shorter value would hide parts of many words. */
const SHORTEST_CHARS = 4
/** A search for more values would take too long. */
const VALUES_LIMIT = 1_000

/**
 * The values that tests mask with the command `add-mask`. The runner never gets this command, because the log shows the output of
 * tests as data. So the values are hidden here.
 */
export class OutputMasks {
  readonly #values = new Set<string>()
  /** Matches all values. Undefined if a value was added since it was built. */
  #pattern: RegExp | undefined

  /** Whether there are more values than this class hides. */
  get areTooMany(): boolean {
    return this.#values.size > VALUES_LIMIT
  }

  /** Replaces the values that are known so far. */
  hide(text: string): string {
    if (this.#values.size === 0) return text
    // The longest value comes first, because it may begin with another value.
    const patterns = () => [...this.#values].toSorted((one, other) => other.length - one.length).map(patternOf)
    this.#pattern ??= new RegExp(patterns().join('|'), 'g')
    return text.replaceAll(this.#pattern, '***')
  }

  /**
   * Yields the lines in parts. Each line with the command is a part of its own, without its value. From then on, `hide` replaces
   * this value.
   */
  *partsOf(lines: readonly string[]): Generator<readonly string[]> {
    let from = 0
    for (const [index, line] of lines.entries()) {
      const command = commandIn(line)
      if (command === undefined) continue
      if (from < index) yield lines.slice(from, index)
      this.#add(line.slice(command.length), command.escaped)
      yield [`${line.slice(0, command.length)}***`]
      from = index + 1
    }
    if (from < lines.length) yield lines.slice(from)
  }

  /** The runner decodes the value, and masks each of its lines. */
  #add(data: string, escaped: RegExp): void {
    const decoded = data.replace(escaped, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    for (const value of decoded.split(/[\r\n]+/).map((line) => line.trim())) {
      if ([...value].length < SHORTEST_CHARS || this.#values.has(value)) continue
      this.#values.add(value)
      this.#pattern = undefined
    }
  }
}

/** The command's length without its value, and what is escaped in the value. Undefined if the line is not the command. */
function commandIn(line: string): { readonly length: number; readonly escaped: RegExp } | undefined {
  // The runner obeys this form at the start of a line.
  const [command] = /^[\s\u0085]*::add-mask(?: .*?)?::/i.exec(line) ?? []
  if (command !== undefined) return { length: command.length, escaped: /%(0D|0A|25)/g }
  // The runner obeys this form anywhere in a line.
  const begin = line.indexOf('##[')
  const end = begin < 0 ? -1 : line.indexOf(']', begin)
  const isMask = /^add-mask(?: |$)/i.test(line.slice(begin + 3, Math.max(end, 0)))
  return isMask ? { length: end + 1, escaped: /%(0D|0A|25|3B|5D)/g } : undefined
}

function patternOf(value: string): string {
  return value.replace(/\W/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
