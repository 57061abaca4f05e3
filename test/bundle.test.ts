import { globSync, mkdtempDisposableSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { type ScenarioOptions, scenario } from './support/scenario.ts'

// The size of the committed bundle does not depend on the machine. A new dependency shows here first. If the dependency is
// worth its size, raise the limit in the change that adds it.

const dist = join(import.meta.dirname, '../dist')

/** A file of dist/main that runs, and who asks for it. */
interface Chunk {
  readonly name: string
  readonly bytes: number
  readonly loaded: 'always' | 'behind a proxy' | 'for the GitHub API'
}

const chunks = await chunksOfMain()

function loaded(...when: readonly Chunk['loaded'][]): readonly Chunk[] {
  return chunks.filter((chunk) => when.includes(chunk.loaded))
}

function sizeBytes(some: readonly Chunk[]): number {
  return some.reduce((sum, { bytes }) => sum + bytes, 0)
}

function codeOf(some: readonly Chunk[]): string {
  return some.map(({ name }) => readFileSync(join(dist, 'main', name), 'utf8')).join('\n')
}

/** The code in dist/main, grouped by what a run of the action really loads. */
async function chunksOfMain(): Promise<readonly Chunk[]> {
  const always = await loadedBy('main')
  // No process listens on port 9, but an attempt to connect loads the code. Only an https: address is reached through a proxy.
  const inputs = { 'base-url': 'https://tests.example.com', 'timeout-minutes': '0.01' }
  const proxied = await loadedBy('main', { inputs, env: { https_proxy: 'http://127.0.0.1:9' } })
  return globSync('*.js', { cwd: join(dist, 'main') })
    .toSorted()
    .map((name) => ({
      name,
      bytes: statSync(join(dist, 'main', name)).size,
      loaded: always.has(name) ? 'always' : proxied.has(name) ? 'behind a proxy' : 'for the GitHub API',
    }))
}

/** The files of dist/main or dist/post that Node's coverage names. */
async function loadedBy(phase: 'main' | 'post', options: ScenarioOptions = {}): Promise<ReadonlySet<string>> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'coverage-'))
  await using run = await scenario({ ...options, env: { ...options.env, NODE_V8_COVERAGE: folder.path } })
  await run.step.run()
  const files = globSync('*.json', { cwd: folder.path }).map((file) => readFileSync(join(folder.path, file), 'utf8'))
  const scripts: { url: string }[] = files.flatMap((text) => JSON.parse(text).result)
  const ours = scripts.filter(({ url }) => url.includes(join(dist, phase)))
  return new Set(ours.map(({ url }) => basename(url)))
}

describe('dist/main', () => {
  it('has an entry under 24 kB, so that the signal handlers are installed soon', () => {
    expect(statSync(join(dist, 'main/index.js')).size).toBeLessThan(24_000)
  })

  it("gets Node's modules without a `require` of its own, which takes longer to make than all of them", () => {
    expect(codeOf(chunks)).not.toContain('createRequire')
  })

  it('loads under 106 kB in a step without a proxy and a comment', () => {
    expect(sizeBytes(loaded('always'))).toBeLessThan(106_000)
  })

  it("loads no cryptography for a service on the runner's own machine", async () => {
    const atExit = `process.on('exit', () => console.log('\\n' + process.moduleLoadList.join('\\n')))`
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atExit)}` }
    await using one = await scenario({ env })
    const { log } = await one.step.startMain().result()
    expect(log).toContain('NativeModule http')
    expect(log.filter((line) => /NativeModule (crypto|tls|https)$/.test(line))).toEqual([])
  })

  it("loads undici's client only behind a proxy, and has it once", () => {
    // This sentence is in undici's lib/dispatcher/client.js.
    const ofClient = 'maxRequestsPerClient must be a positive number'
    expect(codeOf(loaded('always'))).not.toContain(ofClient)
    expect(codeOf(chunks).split(ofClient)).toHaveLength(2)
  })

  it('has under 150 kB more for the GitHub API, and loads its client for nothing else', () => {
    const forGitHub = loaded('for the GitHub API')
    expect(sizeBytes(forGitHub)).toBeLessThan(150_000)
    expect(codeOf(forGitHub)).toContain('octokit')
    expect(codeOf(loaded('always', 'behind a proxy'))).not.toContain('octokit')
  })

  it('has under 1 MB in all', () => {
    expect(sizeBytes(chunks)).toBeLessThan(1_000_000)
  })
})

test('nothing in dist starts a process', () => {
  const code = globSync('*/*.js', { cwd: dist }).map((file) => readFileSync(join(dist, file), 'utf8'))
  expect(code.join('\n')).toContain('node:worker_threads') // the names of Node's modules look like this in the bundle
  expect(code.join('\n')).not.toMatch(/child_process|["'](node:)?cluster["']|process\.binding/)
})

test.each([
  ['main', ['@actions/core', '@actions/github', '@octokit/core', 'undici']],
  ['post', ['@actions/core', 'undici']],
])('dist/%s/licenses.txt has the licences of the bundled packages', (entry, packages) => {
  const licenses = readFileSync(join(dist, entry, 'licenses.txt'), 'utf8')
  for (const name of packages) expect(licenses.split('\n')).toContain(name)
})

describe('dist/post', () => {
  const files = globSync('*.js', { cwd: join(dist, 'post') })

  it('has an entry under 13 kB, and most steps load only the entry', async () => {
    expect(statSync(join(dist, 'post/index.js')).size).toBeLessThan(13_000)
    expect(await loadedBy('post')).toEqual(new Set(['index.js']))
  })

  it("has under 800 kB, and no client of GitHub's", () => {
    const code = files.map((file) => readFileSync(join(dist, 'post', file), 'utf8')).join('\n')
    expect(Buffer.byteLength(code)).toBeLessThan(800_000)
    expect(code).not.toContain('octokit')
  })
})

const sizeOf = (file: string) => statSync(join(dist, '../local-service/dist', file)).size

it('local-service/dist has two small steps, a thread that is ready soon, and a service under 320 kB', () => {
  for (const step of ['main', 'post']) expect(sizeOf(`${step}/index.js`)).toBeLessThan(30_000)
  expect(sizeOf('reading/index.js')).toBeLessThan(140_000)
  expect(sizeOf('service/index.js')).toBeLessThan(320_000)
})
