import { type LogLine, logLine, render } from '../text/safe-text.ts'
import type { Environment } from './event.ts'

export class InvalidInputsError extends Error {
  override readonly name = 'InvalidInputsError'
  readonly messages: readonly LogLine[]

  constructor(messages: readonly LogLine[]) {
    super(messages.map(render).join(' '))
    this.messages = messages
  }
}

export interface NumberRange {
  readonly above?: number | undefined
  readonly least?: number | undefined
  readonly most: number
}

/**
 * Reads the inputs of a step from the runner's variables, and collects all problems. A method that meets one returns
 * what holds for an empty input, so that the reading can go on; `orThrow` ends it.
 */
export class InputReader {
  readonly #env: Environment
  readonly #problems: LogLine[] = []
  /** About values that are accepted, but may not be what the user meant. */
  readonly warnings: LogLine[] = []

  constructor(env: Environment) {
    this.#env = env
  }

  /** Without the white space around it. An unset `${{ vars.X }}` is empty, and so is an input that is not given. */
  text(name: string): string {
    return this.textAsWritten(name).trim()
  }

  /** Every runner that knows the action's inputs sets a variable for each, an empty one too. */
  isPresent(name: string): boolean {
    return this.#env[variable(name)] !== undefined
  }

  textAsWritten(name: string): string {
    return this.#env[variable(name)] ?? ''
  }

  boolean<WhenEmpty>(name: string, whenEmpty: WhenEmpty): boolean | WhenEmpty {
    return this.choice(name, { true: true, false: false }, whenEmpty)
  }

  /** The meaning of the word that is given, in any case of letters. */
  choice<Meaning, WhenEmpty>(
    name: string,
    meanings: Readonly<Record<string, Meaning>>,
    whenEmpty: WhenEmpty,
  ): Meaning | WhenEmpty {
    const given = this.text(name)
    if (given === '') return whenEmpty
    const words = Object.keys(meanings)
    const word = words.find((one) => one === given.toLowerCase())
    if (word !== undefined) return meanings[word] as Meaning
    const accepted = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
    this.problem(logLine`Input ${name}: "${given}" is not accepted. Give ${accepted}.`)
    return whenEmpty
  }

  number<WhenEmpty>(name: string, range: NumberRange, whenEmpty: WhenEmpty): number | WhenEmpty {
    const given = this.text(name)
    if (given === '') return whenEmpty
    const { above = -1, least = 0, most } = range
    const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(given) ? Number(given) : Number.NaN
    if (value > above && value >= least && value <= most) return value
    const from = range.above === undefined ? logLine`from ${least}` : logLine`above ${above}`
    this.problem(
      logLine`Input ${name}: "${given}" is not accepted. Give a number ${from} up to ${most}, such as 1 or 0.5.`,
    )
    return whenEmpty
  }

  /** Notes what is wrong; returns undefined, to be returned in the place of the value. */
  problem(message: LogLine): undefined {
    this.#problems.push(message)
  }

  /** Throws an InvalidInputsError if there was any problem; without one the value is there. */
  orThrow<Value>(value: Value | undefined): Value {
    if (this.#problems.length > 0) throw new InvalidInputsError(this.#problems)
    if (value === undefined) throw new TypeError('A value is missing, and no problem says why')
    return value
  }
}

function variable(input: string): string {
  return `INPUT_${input.toUpperCase()}`
}
