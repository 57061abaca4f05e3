import { announcedVariableOf, isGiven, variableOf } from '../input-variable.ts'
import { SHORTEST_KEY_CHARS } from '../service/key-redaction.ts'
import { type Fragment, fragment, render } from '../text/safe-text.ts'

export class InvalidInputsError extends Error {
  readonly messages: readonly Fragment[]

  constructor(messages: readonly Fragment[]) {
    super(messages.map(render).join(' '))
    this.messages = messages
  }
}

/** The inputs with free text that messages, outputs or reports show. */
const SHOWN_TEXTS = [
  ...['base-url', 'project', 'test-suite', 'branch', 'environment', 'framework-project'],
  ...['run-id', 'run-url', 'report-dir', 'baseline', 'matrix'],
]

/**
 * Reads the inputs. If a value is invalid, the method adds to `problems`, and returns what it returns for an empty input. So the other
 * inputs are read too, and the user sees all problems at once.
 */
export class InputReader {
  readonly #env: NodeJS.ProcessEnv
  /** What is invalid, each in sentences of its own. */
  readonly problems: Fragment[] = []

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /** Without the white space around it. Empty if the input is not given, or is an unset `${{ vars.X }}`. */
  text(name: string): string {
    return this.textAsWritten(name).trim()
  }

  /** Whether the user gives the input itself, and not only the variable that stands for it. */
  isGiven(name: string): boolean {
    return isGiven(this.#env, name)
  }

  textAsWritten(name: string): string {
    return this.#env[variableOf(this.#env, name)] ?? ''
  }

  boolean<WhenEmpty>(name: string, whenEmpty: WhenEmpty): boolean | WhenEmpty {
    const word = this.choice(name, ['true', 'false'], undefined)
    return word === undefined ? whenEmpty : word === 'true'
  }

  /** Upper and lower case do not matter. */
  choice<Word extends string, WhenEmpty>(name: string, words: readonly Word[], whenEmpty: WhenEmpty): Word | WhenEmpty {
    const given = this.text(name).toLowerCase()
    const word = words.find((one) => one === given)
    if (word === undefined && given !== '') {
      const list = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words)
      this.refuse(name, fragment`is not accepted. Give ${list}.`)
    }
    return word ?? whenEmpty
  }

  /** If `least` is 0, the number must be above 0. */
  number<WhenEmpty>(name: string, least: number, most: number, whenEmpty: WhenEmpty): number | WhenEmpty {
    const given = this.text(name)
    if (given === '') return whenEmpty
    const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(given) ? Number(given) : 0
    if (value > 0 && value >= least && value <= most) return value
    const from = least === 0 ? fragment`above 0` : fragment`from ${least}`
    this.refuse(name, fragment`is not accepted. Give a number ${from} up to ${most}, such as 1 or 0.5.`)
    return whenEmpty
  }

  /** How a message names the place of the value: the input, or the variable that stands for it. */
  nameOf(name: string): Fragment {
    const announced = announcedVariableOf(this.#env, name)
    return announced === undefined ? fragment`Input ${name}` : fragment`Environment variable ${announced}`
  }

  /** Records that the value of the input is invalid. `shown` is the value without secrets. */
  refuse(name: string, what: Fragment, shown = this.text(name)): undefined {
    if (!this.#hasKey(this.text(name))) this.problem(fragment`${this.nameOf(name)}: "${shown}" ${what}`)
    else if (!SHOWN_TEXTS.includes(name)) this.#refuseKeyIn(name)
  }

  /** Records a problem for each input with free text that has the key in it, because messages, outputs and reports would show it. */
  refuseKeyElsewhere(): void {
    for (const name of SHOWN_TEXTS) if (this.#hasKey(this.text(name))) this.#refuseKeyIn(name)
  }

  #refuseKeyIn(name: string): void {
    this.problem(
      fragment`${this.nameOf(name)} has the API key in it, which the log and the reports would show. Give the key only to the input api-key.`,
    )
  }

  /** False if the key is short, because a short key may be a part of other words. */
  #hasKey(text: string): boolean {
    const key = this.text('api-key')
    return key.length >= SHORTEST_KEY_CHARS && text.includes(key)
  }

  /** Records a problem. Returns undefined, so that a caller can return it instead of a value. */
  problem(message: Fragment): undefined {
    const isSafe = !this.#hasKey(render(message))
    this.problems.push(
      isSafe ? message : fragment`A problem with an input is not shown, because it has the API key in it.`,
    )
  }

  /** Returns the value. If there was any problem, throws an InvalidInputsError instead. */
  orThrow<Value>(value: Value | undefined): Value {
    if (this.problems.length > 0) throw new InvalidInputsError(this.problems)
    if (value === undefined) throw new TypeError('A value is missing, and no problem says why')
    return value
  }
}
