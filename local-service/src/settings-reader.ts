import { isObject } from './framework.ts'
import { quote } from './routes.ts'

/** Reads one object of the settings and notes what is wrong with it. */
export class SettingsReader {
  readonly name: string
  readonly problems: string[]
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(value: unknown, name: string, problems: string[]) {
    this.name = name
    this.problems = problems
    this.#fields = isObject(value) ? value : {}
    if (!isObject(value)) problems.push(`${capitalized(name)} must be an object, got ${quote(value)}.`)
  }

  check(fine: boolean, mistake: string): boolean {
    if (!fine) this.problems.push(`${capitalized(this.name)}: ${mistake}`)
    return fine
  }

  refuseOthers(known: readonly string[]): void {
    for (const name of Object.keys(this.#fields)) {
      this.check(known.includes(name), `${quote(name)} is no setting here. The settings are ${known.join(', ')}.`)
    }
  }

  entries(name: string): [string, unknown][] | undefined {
    const value = this.#fields[name]
    if (value === undefined) return undefined
    this.check(isObject(value), `"${name}" must be an object, got ${quote(value)}.`)
    return Object.entries(isObject(value) ? value : {})
  }

  text(name: string): string | undefined {
    const value = this.#fields[name]
    if (value === undefined) return undefined
    this.check(typeof value === 'string' && value !== '', `"${name}" must be a text, got ${quote(value)}.`)
    return typeof value === 'string' ? value : undefined
  }

  texts(name: string): string[] | undefined {
    const value = this.#fields[name]
    if (value === undefined) return undefined
    const fine = Array.isArray(value) && value.every((item) => typeof item === 'string')
    // Not quoted: it may be the list of keys.
    this.check(fine, `"${name}" must be a list of texts.`)
    return fine ? value : undefined
  }

  command(name: string): string[] | undefined {
    const command = this.texts(name)
    if (command !== undefined) {
      this.check(
        command[0] !== undefined && command[0] !== '',
        `"${name}" must be a command and its arguments, such as ["npm", "ci"].`,
      )
    }
    return command
  }

  number(name: string, least: number, most: number, whole?: 'whole'): number | undefined {
    const value = this.#fields[name]
    if (value === undefined) return undefined
    const fine =
      typeof value === 'number' && value >= least && value <= most && (whole === undefined || Number.isInteger(value))
    this.check(
      fine,
      `"${name}" must be a ${whole ? 'whole number' : 'number'} from ${least} to ${most}, got ${quote(value)}.`,
    )
    return fine ? value : undefined
  }

  variables(): Record<string, string> {
    for (const [name, value] of Object.entries(this.#fields)) {
      this.check(/^[^=\0]+$/.test(name), `${quote(name)} cannot be the name of an environment variable.`)
      this.check(typeof value === 'string', `the variable ${quote(name)} must be a text.`)
    }
    return Object.fromEntries(Object.entries(this.#fields).map(([name, value]) => [name, String(value)]))
  }
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** For optional fields, which are left out rather than set to undefined. */
export function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
