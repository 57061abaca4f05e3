import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isObject } from '../../../src/text/json.ts'
import type { Framework } from '../frameworks/framework.ts'
import { readManifest } from '../machine/files.ts'
import { foldersBetween, type TestedFolders } from '../machine/paths.ts'

const PACKAGES = 'node_modules'
/** Vite writes there when it loads a configuration. So a work tree gets folders of its own. */
const TOOL_FOLDER = /^\.(cache|vite)/

/** The script of an installed framework, or why the service cannot run the framework, and what to do if that is known. */
type FoundFramework = { readonly script: string } | { readonly problem: string; readonly remedy: string | undefined }

/** Finds the installed framework as Node would. Sentences call the project's folder `where`. */
export function findFramework(framework: Framework, place: TestedFolders, where = place.folder): FoundFramework {
  const { packages, oldestVersion } = framework
  // Folders above `root` may belong to somebody else, so they are not searched.
  const found = packages
    .flatMap((name) => foldersIn(place).map((at) => ({ name, folder: join(at, PACKAGES, name) })))
    .find(({ folder }) => existsSync(join(folder, 'package.json')))
  const { version, bin }: Partial<Record<string, unknown>> = found === undefined ? {} : readManifest(found.folder)
  if (typeof version === 'string' && isOlder(version, oldestVersion)) {
    const problem = `${found?.name} ${version} is installed in ${where}. The service needs ${oldestVersion} or newer`
    return { problem, remedy: 'Update the package.' }
  }
  const script = isObject(bin) ? Object.values(bin)[0] : bin
  if (found !== undefined && typeof script === 'string') return { script: join(found.folder, script) }
  return { problem: `${packages[0]} is not installed in ${where}`, remedy: howToUsePlugAndPlay(framework, place) }
}

/** Compares the major and the minor version. */
function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number.parseFloat)
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number.parseFloat)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}

/** With Yarn's Plug'n'Play, the packages are in no folder, and only Yarn finds them. Undefined if it is not used. */
function howToUsePlugAndPlay({ name }: Framework, place: TestedFolders): string | undefined {
  if (!foldersIn(place).some((at) => existsSync(join(at, '.pnp.cjs')))) return undefined
  return `Yarn's Plug'n'Play is used there (.pnp.cjs). Set "command" to ["yarn", "${name}"] in a configuration file.`
}

/** The folders of the commands that are installed for a project, its own first. */
export function commandFoldersOf(place: TestedFolders): string[] {
  return foldersIn(place).map((at) => join(at, PACKAGES, '.bin'))
}

/** Links the packages of every `node_modules` from the project up to the root into a work tree. */
export async function linkPackages(place: TestedFolders, tree: string): Promise<void> {
  for (const at of foldersIn(place)) {
    const [installed, folder] = [join(at, PACKAGES), join(tree, relative(place.root, at), PACKAGES)]
    if (!existsSync(installed) || lstatSync(folder, { throwIfNoEntry: false }) !== undefined) continue
    await mkdir(folder)
    const names = readdirSync(installed).filter((name) => !TOOL_FOLDER.test(name))
    await Promise.all(names.map((name) => symlink(join(installed, name), join(folder, name))))
  }
}

/** The folders in which a project's packages may be installed, its own first. */
function foldersIn({ root, folder }: TestedFolders): string[] {
  return foldersBetween(folder, root)
}
