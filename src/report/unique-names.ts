import { type Untrusted, untrusted } from '../outcome/untrusted.ts'

/** Gives each title a name of its own: `a`, `a (2)`, `a (3)`, whatever other titles look like. In linear time. */
export class UniqueNames {
  readonly #taken = new Set<Untrusted>()
  readonly #nextNumber = new Map<Untrusted, number>()

  nameFor(title: Untrusted): Untrusted {
    let name = title
    let number = this.#nextNumber.get(title) ?? 2
    while (this.#taken.has(name)) name = untrusted(`${title} (${number++})`)
    if (name !== title) this.#nextNumber.set(title, number)
    this.#taken.add(name)
    return name
  }
}
