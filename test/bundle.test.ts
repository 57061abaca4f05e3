import { globSync, mkdtempDisposableSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { importing, type ScenarioOptions, scenario } from './support/scenario.ts'

// The size of the committed bundle does not depend on the machine. A new dependency shows here first. If the dependency is
// worth its size, raise the limit in the change that adds it.

const dist = join(import.meta.dirname, '../dist')
const files = globSync('*/*.js', { cwd: dist }).map((file) => file.replaceAll('\\', '/'))
const codeOf = (file: string) => readFileSync(join(dist, file), 'utf8')
const sizeOf = (file: string) => statSync(join(dist, file)).size

/** The files of dist/main or dist/post that Node's coverage names. */
async function loadedBy(phase: 'main' | 'post', options: ScenarioOptions = {}): Promise<readonly string[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'coverage-'))
  await using run = await scenario({ ...options, env: { ...options.env, NODE_V8_COVERAGE: folder.path } })
  await run.step.run()
  const texts = globSync('*.json', { cwd: folder.path }).map((file) => readFileSync(join(folder.path, file), 'utf8'))
  const scripts: { url: string }[] = texts.flatMap((text) => JSON.parse(text).result)
  const ours = scripts.filter(({ url }) => url.includes(join(dist, phase)))
  return [...new Set(ours.map(({ url }) => basename(url)))].toSorted()
}

const LIMITS_KB = {
  // The signal handlers are installed soon.
  'main/index.js': 24,
  'main/run-main.js': 82,
  'main/github.js': 150,
  'main/undici.js': 740,
  'post/index.js': 13,
  'post/process.js': 2,
  'post/run-post.js': 35,
  'post/safe-text.js': 5,
  'post/undici.js': 740,
}

it('has these files and no others', () => {
  expect(files.toSorted()).toEqual(Object.keys(LIMITS_KB).toSorted())
})

it.each(Object.entries(LIMITS_KB))('has in %s under %i kB', (file, limitKb) => {
  expect(sizeOf(file)).toBeLessThan(limitKb * 1_000)
})

it("has GitHub's client in one file, and undici's client in its files", () => {
  // This sentence is in undici's lib/dispatcher/client.js.
  const ofClient = 'maxRequestsPerClient must be a positive number'
  expect(files.filter((file) => codeOf(file).includes('octokit'))).toEqual(['main/github.js'])
  expect(files.filter((file) => codeOf(file).includes(ofClient)).toSorted()).toEqual([
    'main/undici.js',
    'post/undici.js',
  ])
})

describe('a step', () => {
  it('loads little without a proxy and a comment, and nothing in most post steps', async () => {
    expect(await loadedBy('main')).toEqual(['index.js', 'run-main.js'])
    expect(await loadedBy('post')).toEqual(['index.js'])
  })

  it('loads undici behind a proxy', async () => {
    // No process listens on port 9, but an attempt to connect loads the code. Only an https: address is reached through a proxy.
    const inputs = { 'base-url': 'https://tests.example.com', 'timeout-minutes': '0.01' }
    const proxied = await loadedBy('main', { inputs, env: { https_proxy: 'http://127.0.0.1:9' } })
    expect(proxied).toEqual(['index.js', 'run-main.js', 'undici.js'])
  })

  it("loads no cryptography for a service on the runner's own machine", async () => {
    const atExit = `process.on('exit', () => console.log('\\n' + process.moduleLoadList.join('\\n')))`
    await using one = await scenario({ env: { NODE_OPTIONS: importing(atExit) } })
    const { log } = await one.step.startMain().result()
    expect(log).toContain('NativeModule http')
    expect(log.filter((line) => /NativeModule (crypto|tls|https)$/.test(line))).toEqual([])
  })
})

test('nothing in dist starts a process', () => {
  const code = files.map(codeOf).join('\n')
  expect(code).toContain('node:worker_threads') // the names of Node's modules look like this in the bundle
  expect(code).not.toMatch(/child_process|["'](node:)?cluster["']|process\.binding/)
})

test.each([
  ['main', ['@actions/core', '@actions/github', '@octokit/core', 'undici']],
  ['post', ['@actions/core', 'undici']],
])('dist/%s/licenses.txt has the licences of the bundled packages', (entry, packages) => {
  const licenses = readFileSync(join(dist, entry, 'licenses.txt'), 'utf8')
  for (const name of packages) expect(licenses.split('\n')).toContain(name)
})

it.each([
  ['main', 30],
  ['post', 30],
  ['reading', 140],
  ['service', 200],
])('local-service/dist/%s has under %i kB', (entry, limitKb) => {
  const ofService = globSync(`../local-service/dist/${entry}/*.js`, { cwd: dist })
  expect(ofService).not.toEqual([])
  expect(ofService.reduce((sum, file) => sum + sizeOf(file), 0)).toBeLessThan(limitKb * 1_000)
})
