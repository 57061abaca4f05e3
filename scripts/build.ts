// Builds dist/ from src/, and local-service/dist/ from local-service/src/: one bundle for each process. `--check` builds into another
// folder and says what differs.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { type OutputChunk, type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')
const OUTPUTS = ['dist', 'local-service/dist'] as const

/**
 * An `import` of one of Node's modules makes all its exports. That of `node:http` makes Node's own `WebSocket` too, and so takes 20 ms. A
 * bundle gets these modules from a function of Node instead, which takes no time.
 */
const modulesOfNode: Plugin = {
  name: 'modules of Node',
  resolveId: (id) => (isBuiltin(id) ? `\0${id}` : null),
  load: (id) => (id.startsWith('\0') && isBuiltin(id.slice(1)) ? getBuiltin(id.slice(1)) : null),
}

function getBuiltin(name: string): string {
  return `module.exports = process.getBuiltinModule(${JSON.stringify(name)})`
}

/**
 * Our modules and those of `@actions/core` do nothing when they are loaded. So the bundle leaves out what nobody calls, such as the client
 * of HTTP that `@actions/core` has for OIDC tokens.
 */
const treeshake = { moduleSideEffects: [{ test: /^\0|[\\/](src|@actions[\\/]core)[\\/]/, sideEffects: false }] }

async function write(input: RolldownOptions, output: OutputOptions): Promise<readonly OutputChunk[]> {
  await using bundle = await rolldown({ cwd: root, platform: 'node', transform: { target: 'es2024' }, ...input })
  const written = await bundle.write({ entryFileNames: '[name].js', chunkFileNames: '[name].js', ...output })
  return written.output.filter((file) => file.type === 'chunk')
}

/** The bundle of a process: the folder of its files, and the file that begins it. */
async function bundle(folder: string, source: string): Promise<void> {
  const input = { input: { index: source }, treeshake, plugins: [modulesOfNode] }
  const chunks = await write(input, { dir: folder, minify: true, comments: false })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(folder, 'licenses.txt'), licensesOf(chunks.flatMap(({ moduleIds }) => moduleIds)))
}

/** The licences of all packages with a module in the bundle. */
function licensesOf(modules: readonly string[]): string {
  const folders = modules.map((id) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0])
  const licenses = [...new Set(folders)].flatMap((folder) => {
    if (folder === undefined) return []
    const { name, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const [file] = readdirSync(folder).filter((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new Error(`${folder} has no licence`)
    return `${name}\n${license}\n${readFileSync(join(folder, file), 'utf8')}`
  })
  return licenses.toSorted().join('\n\n')
}

/** How `committed` differs from what was built, as git lists it. Every entry counts, also hidden files and links. */
export function differences(fresh: string, committed: string): string {
  const command = ['diff', '--no-index', '--no-renames', '--name-status', fresh, committed]
  const { stdout, stderr } = spawnSync('git', command, { encoding: 'utf8' })
  return stderr + stdout
}

/** The processes of the action local-service and the thread of its service, and the files that begin them. */
const ENTRIES_OF_SERVICE = [
  ['main', 'action/main-step'],
  ['post', 'action/post-step'],
  ['service', 'action/service-process'],
  ['reading', 'frameworks/reading-thread'],
] as const

async function build(outputRoot: string): Promise<void> {
  const [dist, ofService] = OUTPUTS.map((output) => join(outputRoot, output)) as [string, string]
  for (const folder of [dist, ofService]) rmSync(folder, { recursive: true, force: true })
  for (const entry of ['main', 'post']) await bundle(join(dist, entry), `src/${entry}.ts`)
  for (const [entry, file] of ENTRIES_OF_SERVICE) await bundle(join(ofService, entry), `local-service/src/${file}.ts`)
  // A project's own framework loads these files by their paths, so they are in no bundle.
  const reporters = join(root, 'local-service/src/reporters')
  const input = readdirSync(reporters).map((file) => join(reporters, file))
  await write({ input }, { dir: join(ofService, 'service'), preserveModules: true })
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const fresh = join(root, 'build/fresh')
    await build(fresh)
    const found = OUTPUTS.map((output) => differences(relative(root, join(fresh, output)), output)).join('')
    if (found !== '') {
      console.error(`dist/ is not what src/ builds. Run "npm run build", and commit what it changes.\n${found}`)
      process.exit(1)
    }
    console.log('dist/ is what src/ builds.')
  } else {
    await build(root)
  }
}
