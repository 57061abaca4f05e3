import type { Frame } from './junit-place-go.ts'
import type { XmlCase } from './junit-xml.ts'
import type { SourceFiles } from './source-files.ts'

// Where a scenario of cucumber-js is. A report has the titles of the feature and of the scenario, and a stack only files of steps.

/** The name of the only suite of cucumber-js. */
const CUCUMBER = 'Cucumber'

export class Scenarios {
  readonly #source: SourceFiles
  /** By the title of the feature and that of the scenario. */
  #found: ReadonlyMap<string, Frame> | undefined

  constructor(source: SourceFiles) {
    this.#source = source
  }

  testOf({ attributes: { name = '', classname = '' }, suites }: XmlCase): Frame | undefined {
    if (suites.at(-1) !== CUCUMBER) return undefined
    this.#found ??= this.#find()
    // A row of an outline is, for example, `counts <n> - #1.1: counts 0`.
    return this.#found.get(keyOf(classname, name.replace(/ - #\d.*/s, '')))
  }

  /** The keywords in front of the titles may be of any language. The first title is that of the feature. */
  #find(): ReadonlyMap<string, Frame> {
    const found = new Map<string, Frame>()
    for (const file of this.#source.withExtension('.feature')) {
      let feature: string | undefined
      for (const [index, line] of this.#source.read(file).split('\n').entries()) {
        const title = /^\s*[^\s:#@|][^:]*:(.*)/.exec(line)?.[1]?.trim()
        if (title === undefined) continue
        feature ??= title
        found.set(keyOf(feature, title), { file, line: index + 1 })
      }
    }
    return found
  }
}

function keyOf(feature: string, scenario: string): string {
  return JSON.stringify([feature, scenario])
}
