import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { ScenarioOptions } from '../test/support/scenario.ts'
import { observeStep } from './measured-step.ts'
import { type Part, table } from './table.ts'

const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
/** Of what a chunk is made of, the largest parts are named. */
const PARTS_NAMED = 3

/** A file of dist/ that runs, and who asks for it. */
export interface Chunk {
  readonly name: string
  readonly bytes: number
  readonly loaded: 'always' | 'behind a proxy' | 'for the GitHub API'
}

/** The code in dist/main, sorted by what really loads when the action runs. */
export async function chunksOfMain(): Promise<readonly Chunk[]> {
  const always = await loadedBy({})
  // Nobody listens at port 9: the way to the attempt is enough. Only an https: address is reached through a proxy.
  const inputs = { 'base-url': 'https://tests.example.com', 'timeout-minutes': '0.01' }
  const proxied = await loadedBy({ inputs, env: { https_proxy: 'http://127.0.0.1:9' } })
  return globSync('*.js', { cwd: join(dist, 'main') })
    .toSorted()
    .map((name) => ({
      name,
      bytes: sizeOf(`main/${name}`),
      loaded: always.has(name) ? 'always' : proxied.has(name) ? 'behind a proxy' : 'for the GitHub API',
    }))
}

async function loadedBy(options: ScenarioOptions): Promise<ReadonlySet<string>> {
  const { observations } = await observeStep(options)
  return new Set(observations.marks.map(({ what }) => basename(what)))
}

/** What the committed bundle weighs, and what it is made of. */
export async function bundle(): Promise<Part> {
  const chunks = await chunksOfMain()
  const withoutGitHub = sum(chunks.filter(({ loaded }) => loaded !== 'for the GitHub API'))
  const content = contentOfMain()
  const postBytes = globSync('post/*.js', { cwd: dist }).reduce((total, file) => total + sizeOf(file), 0)
  return {
    title: 'Bundle',
    findings: [
      {
        what: 'dist/main without the code for the GitHub API',
        goal: '< 900 kB',
        result: kilobytes(withoutGitHub),
        isReached: withoutGitHub < 900_000,
      },
    ],
    details: `${table(
      ['dist/main', 'Size', 'Loaded', 'Made of, before it is minified'],
      chunks.map(({ name, bytes, loaded }) => [name, kilobytes(bytes), loaded, content.get(name) ?? '']),
    )}

dist/post has ${kilobytes(postBytes)}, of which most steps load ${kilobytes(sizeOf('post/index.js'))}.`,
  }
}

function sizeOf(file: string): number {
  return statSync(join(dist, file)).size
}

function sum(chunks: readonly Chunk[]): number {
  return chunks.reduce((total, { bytes }) => total + bytes, 0)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`
}

/** Of the bundler's statistics, which `scripts/build.ts` leaves behind, the part that tells where a module is from. */
interface Statistics {
  readonly chunks: readonly { readonly files: readonly string[]; readonly modules: readonly BundledModule[] }[]
}

interface BundledModule {
  readonly name: string
  readonly size: number
  readonly modules?: readonly BundledModule[]
}

function contentOfMain(): ReadonlyMap<string, string> {
  const { chunks }: Statistics = JSON.parse(readFileSync(join(root, 'build/main.stats.json'), 'utf8'))
  return new Map(
    chunks.map(({ files: [file = ''], modules }) => {
      const bytesOf = new Map<string, number>()
      for (const { name, size } of modules.flatMap((one) => one.modules ?? [one])) {
        const origin = originOf(name)
        bytesOf.set(origin, (bytesOf.get(origin) ?? 0) + size)
      }
      const parts = [...bytesOf].toSorted(([, one], [, other]) => other - one)
      const named = parts.slice(0, PARTS_NAMED).map(([origin, bytes]) => `${origin} ${kilobytes(bytes)}`)
      const more = parts.length - named.length
      return [file, [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')]
    }),
  )
}

function originOf(module: string): string {
  const [, dependency] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module) ?? []
  if (dependency !== undefined) return dependency
  return module.startsWith('webpack/') || module.startsWith('external ') ? "the bundler's own" : 'src'
}
