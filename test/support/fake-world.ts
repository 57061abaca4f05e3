import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StepAborted } from '../../src/action/abort.ts'
import type { World } from '../../src/action/world.ts'
import type { Outputs } from '../../src/github/outputs.ts'
import type { AbortCause } from '../../src/model/outcome.ts'
import type { ServiceClient } from '../../src/service/client.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
import type { FakeClock } from './fake-clock.ts'

export interface FakeWorldOptions {
  readonly random?: () => number
  readonly comment?: () => Promise<string | undefined>
  /** If undefined, the report files cannot be written. */
  readonly reportFolder?: string | undefined
  readonly summaryBytes?: number
}

let source: string | undefined

/** The text of all of src/. In dist/, one file has it. */
export function sourceText(): string {
  const root = join(import.meta.dirname, '../../src')
  source ??= globSync('**/*.ts', { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
  return source
}

export class FakeWorld implements World {
  /** What the action did to the world, in words: `file started run-1`, `output status=RUNNING`, `error …`. */
  readonly effects: { readonly atMs: number; readonly text: string }[] = []
  readonly clock: FakeClock
  readonly random: () => number
  readonly service: ServiceClient
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #options: FakeWorldOptions
  readonly log: World['log']
  readonly mainFile: World['mainFile']

  constructor(clock: FakeClock, service: ServiceClient, options: FakeWorldOptions = {}) {
    this.clock = clock
    this.service = service
    this.#options = { reportFolder: '/reports', ...options }
    this.random = options.random ?? (() => 0.5)
    this.signal = this.#controller.signal
    this.log = {
      info: (message) => this.#note(`info ${render(message)}`),
      warning: (message) => this.#note(`warning ${render(message)}`),
    }
    this.mainFile = {
      starting: () => this.#note('file starting'),
      started: (runId, mayCancel) => this.#note(`file started ${runId}${mayCancel ? '' : ', not to be cancelled'}`),
      done: () => this.#note('file removed'),
    }
  }

  /** Aborts the step at a time of the clock, or at once if this time has passed. */
  signalAt(atMs: number, cause: AbortCause = 'system signal'): void {
    const abort = () => this.#controller.abort(new StepAborted(cause, this.clock.now()))
    if (atMs <= this.clock.now()) abort()
    else this.clock.at(atMs, abort)
  }

  setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]): void {
    this.#note(`output ${name}=${value}`)
  }

  annotate({ level, title, message }: { level: string; title: string; message: Fragment }): void {
    this.#note(`${level} [${title}] ${render(message)}`)
  }

  mask(value: string): void {
    this.#note(`mask ${value}`)
  }

  programText(): string {
    return sourceText()
  }

  writeSummary(build: Parameters<World['writeSummary']>[0]): void {
    this.#note(`summary ${render(build(this.#options.summaryBytes ?? 0))}`)
  }

  writeReportFiles(files: readonly { readonly name: string }[], runId: string): string | undefined {
    this.#note(`files ${files.map(({ name }) => name).join(' ')} of ${runId}`)
    return this.#options.reportFolder
  }

  async writeComment(build: Parameters<World['writeComment']>[0]): Promise<string | undefined> {
    if (build() === undefined) return undefined
    this.#note('comment')
    return this.#options.comment?.()
  }

  /** The texts of the effects with this prefix, without that prefix. */
  texts(prefix: string): string[] {
    return this.effects.filter(({ text }) => text.startsWith(prefix)).map(({ text }) => text.slice(prefix.length))
  }

  outputs(): Record<string, string> {
    return Object.fromEntries(this.texts('output ').map((pair) => pair.split(/=(.*)/s).slice(0, 2)))
  }

  #note(text: string): void {
    this.effects.push({ atMs: this.clock.now(), text })
  }
}
