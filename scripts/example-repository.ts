// `npm run example-repository -- FOLDER` makes a git repository with the web shop, its gate, and the branches of three pull
// requests.
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
/** What is copied, and where to. A later entry replaces files of an earlier entry. */
const PARTS = [
  ['examples/web-shop', '.'],
  ['examples/repository', '.'],
  ['examples/workflows/local-service.yml', '.github/workflows/tests.yml'],
  ['examples/workflows/ruleset.json', 'ruleset.json'],
  ['LICENSE', 'LICENSE'],
  ['package-lock.json', 'package-lock.json'],
] as const
const NEVER_ENDING_TEST = `
it('waits for a payment that never comes', { timeout: 3_600_000 }, () => new Promise(() => {}))
`

function makeRepository(folder: string): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, stdio: ['ignore', 2, 2] })
  const commit = (message: string) => {
    git('add', '--all')
    git('commit', '--quiet', '--message', message)
  }
  const replaceIn = (file: string, old: string, replacement: string) => {
    const path = join(folder, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(old, replacement))
  }

  // If tests have run in the shop's folder, its node_modules contains a cache, which is not copied.
  const filter = (path: string) => basename(path) !== 'node_modules'
  for (const [from, to] of PARTS) cpSync(join(ROOT, from), join(folder, to), { recursive: true, filter })
  writePackage(folder)
  git('init', '--quiet', '--initial-branch=main')
  commit('A web shop, and the gate for its pull requests')

  git('switch', '--quiet', '--create', 'green')
  replaceIn('src/checkout.ts', `['WELCOME', 10]`, `['WELCOME', 15]`)
  commit('Take 15 percent off the first order')

  git('switch', '--quiet', '--create', 'red', 'main')
  replaceIn('src/money.ts', 'Math.round(exact)', 'Math.floor(exact)')
  commit('Leave out half cents')

  git('switch', '--quiet', '--create', 'cancelled', 'main')
  appendFileSync(join(folder, 'tests/checkout/bill.test.ts'), NEVER_ENDING_TEST)
  commit('Test the payment')

  git('switch', '--quiet', 'main')
}

/** Takes this repository's lock file, so that Vitest has the same version. npm removes what the shop does not need. */
function writePackage(folder: string): void {
  const shop = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { vitest } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies
  const engines = { node: '>=22.12' }
  const manifest = { ...shop, engines, scripts: { test: 'vitest run' }, devDependencies: { vitest } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  execFileSync('npm', ['install', '--package-lock-only', '--offline', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 2],
  })
}

const USAGE = `Usage: npm run example-repository -- FOLDER

Makes a git repository in FOLDER, which must not exist. The repository has the web shop, its gate, and the branches of three
pull requests.`

const [name = ''] = process.argv.slice(2)
const folder = resolve(name)
if (name === '--help') {
  console.log(USAGE)
} else if (name === '' || name.startsWith('-') || existsSync(folder)) {
  console.error(
    `"${name}" is not a new folder. Give a path that does not exist: npm run example-repository -- ../web-shop`,
  )
  process.exitCode = 1
} else {
  makeRepository(folder)
  console.log(`${folder} has the branches main, green, red and cancelled. CONTRIBUTING.md says how to publish it.`)
}
