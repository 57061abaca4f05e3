// Builds dist/ from src/: TypeScript emits JavaScript, ncc bundles it, once for main and once for post.
// `--check` builds elsewhere and says which files of dist/ are stale, missing or too many.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { minify } from 'terser'
import { rememberFreshDist } from './build-fingerprint.ts'

const root = resolve(import.meta.dirname, '..')
const staging = join(root, 'build')
const require = createRequire(import.meta.url)

function emitJavaScript(): void {
  rmSync(staging, { recursive: true, force: true })
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  execFileSync(process.execPath, [tsc, '--project', join(root, 'tsconfig.build.json')], { cwd: root, stdio: 'inherit' })
  writeFileSync(join(staging, 'package.json'), '{ "type": "module" }\n')
}

/**
 * @actions/core pulls in an HTTP client, with all of undici, for the OIDC tokens that the action never asks for. Its
 * modules have no side effects but do not say so; saying it here lets the bundler leave out what is not called.
 */
function hintSideEffects(): void {
  const original = join(root, 'node_modules/@actions/core')
  const copy = join(staging, 'node_modules/@actions/core')
  cpSync(original, copy, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, sideEffects: false }))
}

function bundle(entry: 'main' | 'post', outputRoot: string): void {
  const output = join(outputRoot, entry)
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  const ncc = require.resolve('@vercel/ncc/dist/ncc/cli.js')
  // What is in which chunk, for the bench to tell.
  const statistics = join(staging, `${entry}.stats.json`)
  const options = ['--minify', '--no-cache', '--quiet', '--license', 'licenses.txt', '--stats-out', statistics]
  execFileSync(process.execPath, [ncc, 'build', join(staging, `${entry}.js`), '--out', output, ...options], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** ncc minifies the entry alone, and most of the bundle is in the chunks beside it. */
async function minifyChunks(outputRoot: string): Promise<void> {
  for (const file of globSync('*/*.index.js', { cwd: outputRoot })) {
    const path = join(outputRoot, file)
    const { code } = await minify(readFileSync(path, 'utf8'), { module: true, format: { comments: false } })
    if (code === undefined) throw new Error(`${file} was minified to nothing`)
    writeFileSync(path, code)
  }
}

function differences(fresh: string, committed: string): string[] {
  const list = (folder: string) => new Set(existsSync(folder) ? globSync('*/*', { cwd: folder }) : [])
  const [want, have] = [list(fresh), list(committed)]
  return [
    ...[...want].filter((file) => !have.has(file)).map((file) => `missing: dist/${file}`),
    ...[...have].filter((file) => !want.has(file)).map((file) => `not built any more: dist/${file}`),
    ...[...want]
      .filter((file) => have.has(file))
      .filter((file) => !readFileSync(join(fresh, file)).equals(readFileSync(join(committed, file))))
      .map((file) => `stale: dist/${file}`),
  ]
}

const isCheck = process.argv.includes('--check')
const output = isCheck ? join(staging, 'dist') : join(root, 'dist')
emitJavaScript()
hintSideEffects()
bundle('main', output)
bundle('post', output)
await minifyChunks(output)
if (isCheck) {
  const found = differences(output, join(root, 'dist'))
  if (found.length > 0) {
    console.error(`dist/ is not what src/ builds. Run "npm run build" and commit dist/.\n  ${found.join('\n  ')}`)
    process.exit(1)
  }
  console.log('dist/ is what src/ builds.')
}
rememberFreshDist()
