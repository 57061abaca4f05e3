import { type Fragment, fragment, render } from '../text/safe-text.ts'

// test/inputs/inputs.test.ts tests it with the inputs that it reads.

export class InvalidInputsError extends Error {
  override readonly name = 'InvalidInputsError'
  readonly messages: readonly Fragment[]

  constructor(messages: readonly Fragment[]) {
    super(messages.map(render).join(' '))
    this.messages = messages
  }
}

/** A range of durations, in the unit in which the user gives them. Without `least`, the range is above zero. */
interface DurationRange {
  readonly least?: number
  readonly most: number
  readonly unitMs: number
}

/**
 * Reads the step's inputs from the runner's variables. If a value is invalid, a method records the problem and returns
 * what it returns for an empty input. `orThrow` then reports all problems at once.
 */
export class InputReader {
  readonly #env: NodeJS.ProcessEnv
  readonly #problems: Fragment[] = []
  /** About values that are accepted, but may not be what the user meant. */
  readonly warnings: Fragment[] = []

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /** Without the white space around it. Empty if the input is not given, or is an unset `${{ vars.X }}`. */
  text(name: string): string {
    return this.textAsWritten(name).trim()
  }

  textAsWritten(name: string): string {
    return this.#env[`INPUT_${name.toUpperCase()}`] ?? ''
  }

  boolean<WhenEmpty>(name: string, whenEmpty: WhenEmpty): boolean | WhenEmpty {
    return this.choice(name, { true: true, false: false }, whenEmpty)
  }

  /** The meaning of the given word. Upper and lower case do not matter. */
  choice<Meaning, WhenEmpty>(
    name: string,
    meanings: Readonly<Record<string, Meaning>>,
    whenEmpty: WhenEmpty,
  ): Meaning | WhenEmpty {
    const given = this.text(name)
    if (given === '') return whenEmpty
    const word = given.toLowerCase()
    if (Object.hasOwn(meanings, word)) return meanings[word] as Meaning
    const words = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(meanings))
    this.problem(fragment`Input ${name}: "${given}" is not accepted. Give ${words}.`)
    return whenEmpty
  }

  durationMs<WhenEmpty>(
    name: string,
    { least, most, unitMs }: DurationRange,
    whenEmpty: WhenEmpty,
  ): number | WhenEmpty {
    const given = this.text(name)
    if (given === '') return whenEmpty
    const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(given) ? Number(given) : Number.NaN
    if (value > 0 && value >= (least ?? 0) && value <= most) return value * unitMs
    const from = least === undefined ? fragment`above 0` : fragment`from ${least}`
    this.problem(
      fragment`Input ${name}: "${given}" is not accepted. Give a number ${from} up to ${most}, such as 1 or 0.5.`,
    )
    return whenEmpty
  }

  /** Records a problem. Returns undefined, so that a caller can return it instead of a value. */
  problem(message: Fragment): undefined {
    this.#problems.push(message)
  }

  /** Returns the value. If there was any problem, throws an InvalidInputsError instead. */
  orThrow<Value>(value: Value | undefined): Value {
    if (this.#problems.length > 0) throw new InvalidInputsError(this.#problems)
    if (value === undefined) throw new TypeError('A value is missing, and no problem says why')
    return value
  }
}
