// Builds dist/ from src/, and local-service/dist/ from local-service/src/. TypeScript emits JavaScript, and ncc bundles it, once
// for each process. `--check` builds into another folder and says what differs.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { minify } from 'terser'
import { rememberFreshDist } from './build-fingerprint.ts'

const root = resolve(import.meta.dirname, '..')
const staging = join(root, 'build')
const require = createRequire(import.meta.url)

function emitJavaScript(): void {
  rmSync(staging, { recursive: true, force: true })
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  for (const options of [['tsconfig.build.json'], ['local-service', '--outDir', staging]]) {
    execFileSync(process.execPath, [tsc, '--project', ...options], { cwd: root, stdio: 'inherit' })
  }
  writeFileSync(join(staging, 'package.json'), '{ "type": "module", "sideEffects": false }\n')
}

/**
 * @actions/core imports an HTTP client with all of undici, for OIDC tokens. The action never requests such a token. Its
 * package does not say that its modules have no side effects. If we say so, the bundler leaves out what is not called.
 */
function hintSideEffects(): void {
  const original = join(root, 'node_modules/@actions/core')
  const copy = join(staging, 'node_modules/@actions/core')
  cpSync(original, copy, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, sideEffects: false }))
}

/** ncc's command. Called in this process, it bundles five times in the time of two processes. */
const ncc: (
  args: string[],
  stdout: NodeJS.WritableStream,
  stderr: NodeJS.WritableStream,
) => Promise<void> = require('@vercel/ncc/dist/ncc/cli.js')

async function bundle(source: string, output: string): Promise<void> {
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  const statistics = join(staging, 'statistics.json')
  const options = ['--minify', '--no-cache', '--quiet', '--stats-out', statistics]
  await ncc(['build', join(staging, source), '--out', output, ...options], process.stdout, process.stderr)
  const { modules } = JSON.parse(readFileSync(statistics, 'utf8')) as Statistics
  writeFileSync(join(output, 'licenses.txt'), licensesOf(modules.filter(({ chunks = [] }) => chunks.length > 0)))
}

/** The bundler's statistics. If it has joined modules to one, that one lists them. */
interface Statistics {
  readonly modules: readonly Module[]
}

interface Module {
  readonly nameForCondition?: string | null
  readonly chunks?: readonly unknown[]
  readonly modules?: readonly Module[]
}

/** The licences of all packages with a module in the bundle. ncc's option `--license` leaves out packages whose modules were joined. */
function licensesOf(modules: readonly Module[]): string {
  const withInner = (module: Module): readonly Module[] => [module, ...(module.modules ?? []).flatMap(withInner)]
  const folders = modules
    .flatMap(withInner)
    .map(({ nameForCondition }) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(nameForCondition ?? '')?.[0])
  const licenses = [...new Set(folders)].flatMap((folder) => {
    if (folder === undefined) return []
    const { name, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const [file] = readdirSync(folder).filter((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new Error(`${folder} has no licence`)
    return `${name}\n${license}\n${readFileSync(join(folder, file), 'utf8')}`
  })
  return licenses.toSorted().join('\n\n')
}

/** A bundle requires only Node's own modules. For them, `process.getBuiltinModule` is enough, and a start takes 1 to 2 ms less. */
function withoutRequire(code: string): string {
  return code.replace(/^import\{createRequire as (\w+)\}from"module";/, 'const $1=()=>process.getBuiltinModule;')
}

/** ncc shortens only the entry, and keeps there what nobody calls, such as most of valibot. The chunks are not shortened at all. */
async function minifyChunks(outputRoot: string): Promise<void> {
  for (const file of globSync('*/*index.js', { cwd: outputRoot })) {
    const path = join(outputRoot, file)
    const text = withoutRequire(readFileSync(path, 'utf8'))
    const { code } = await minify(text, { module: true, format: { comments: false } })
    if (code === undefined) throw new Error(`${file} was minified to nothing`)
    writeFileSync(path, code)
  }
}

/** How `committed` differs from what was built, as git lists it. Every entry counts, also hidden files and links. */
export function differences(fresh: string, committed: string): string {
  const command = ['diff', '--no-index', '--no-renames', '--name-status', fresh, committed]
  const { stdout, stderr } = spawnSync('git', command, { encoding: 'utf8' })
  return stderr + stdout
}

const OUTPUTS = ['dist', 'local-service/dist'] as const

/** The processes of the action local-service and the thread of its service, and the files that begin them. */
const ENTRIES_OF_SERVICE = [
  ['main', 'action/main-step'],
  ['post', 'action/post-step'],
  ['service', 'action/service-process'],
  ['reading', 'frameworks/reading-thread'],
] as const

async function build(outputRoot: string): Promise<void> {
  emitJavaScript()
  hintSideEffects()
  const [dist, ofService] = OUTPUTS.map((output) => join(outputRoot, output)) as [string, string]
  for (const entry of ['main', 'post']) await bundle(`${entry}.js`, join(dist, entry))
  const source = 'local-service/src'
  for (const [entry, file] of ENTRIES_OF_SERVICE) await bundle(`${source}/${file}.js`, join(ofService, entry))
  // A project's own framework loads these files by their paths, so they are in no bundle.
  const reporters = join(staging, source, 'reporters')
  for (const file of readdirSync(reporters)) cpSync(join(reporters, file), join(ofService, 'service', file))
  for (const output of [dist, ofService]) await minifyChunks(output)
}

if (import.meta.main) {
  // What ncc writes depends on the current folder.
  process.chdir(root)
  if (process.argv.includes('--check')) {
    const fresh = join(staging, 'fresh')
    await build(fresh)
    const found = OUTPUTS.map((output) => differences(relative(root, join(fresh, output)), output)).join('')
    if (found !== '') {
      console.error(`dist/ is not what src/ builds. Run "npm run build", and commit what it changes.\n${found}`)
      process.exit(1)
    }
    console.log('dist/ is what src/ builds.')
  } else {
    for (const output of OUTPUTS) rmSync(join(root, output), { recursive: true, force: true })
    await build(root)
  }
  rememberFreshDist()
}
