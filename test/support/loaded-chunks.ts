import { globSync, mkdtempDisposableSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { type ScenarioOptions, scenario } from './scenario.ts'

const DIST = resolve(import.meta.dirname, '../../dist')
const MAIN = join(DIST, 'main')

/** A file of dist/main that runs, and who asks for it. */
export interface Chunk {
  readonly name: string
  readonly bytes: number
  readonly loaded: 'always' | 'behind a proxy' | 'for the GitHub API'
}

/** The code in dist/main, grouped by what a run of the action really loads. */
export async function chunksOfMain(): Promise<readonly Chunk[]> {
  const always = await loadedBy('main')
  // No process listens on port 9, but an attempt to connect loads the code. Only an https: address is reached through a proxy.
  const inputs = { 'base-url': 'https://tests.example.com', 'timeout-minutes': '0.01' }
  const proxied = await loadedBy('main', { inputs, env: { https_proxy: 'http://127.0.0.1:9' } })
  return globSync('*.js', { cwd: MAIN })
    .toSorted()
    .map((name) => ({
      name,
      bytes: statSync(join(MAIN, name)).size,
      loaded: always.has(name) ? 'always' : proxied.has(name) ? 'behind a proxy' : 'for the GitHub API',
    }))
}

/** The files of dist/main or dist/post that Node's coverage names. */
export async function loadedBy(phase: 'main' | 'post', options: ScenarioOptions = {}): Promise<ReadonlySet<string>> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'coverage-'))
  await using run = await scenario({ ...options, env: { ...options.env, NODE_V8_COVERAGE: folder.path } })
  await run.step.run()
  const files = globSync('*.json', { cwd: folder.path }).map((file) => readFileSync(join(folder.path, file), 'utf8'))
  const scripts: { url: string }[] = files.flatMap((text) => JSON.parse(text).result)
  const ours = scripts.filter(({ url }) => url.includes(join(DIST, phase)))
  return new Set(ours.map(({ url }) => basename(url)))
}
