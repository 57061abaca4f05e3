import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isObject } from '../../../src/text/json.ts'
import type { Framework } from '../frameworks/framework.ts'
import type { TestedFolders } from '../frameworks/report.ts'
import { readRegularFile } from '../machine/files.ts'
import { foldersBetween } from '../machine/paths.ts'

const PACKAGES = 'node_modules'
/** Vite writes there when it loads a configuration. So a work tree gets folders of its own. */
const TOOL_FOLDER = /^\.(cache|vite)/

type Packages = Pick<Framework, 'packageName' | 'otherPackages'>

/** The command of a framework's package, as Node would find it from a folder. Undefined if the package is not installed. */
export function findPackageCommand(packages: Packages, place: TestedFolders): string | undefined {
  const found = findPackage(packages, place)
  const bin = found?.manifest.bin
  const script = isObject(bin) ? Object.values(bin)[0] : bin
  return found !== undefined && typeof script === 'string' ? join(found.folder, script) : undefined
}

/** Says that the installed framework is too old. Undefined if it is not, or if it is not installed. */
export function whyFrameworkTooOld(framework: Framework, place: TestedFolders): string | undefined {
  const { oldestVersion } = framework
  const { name, manifest } = findPackage(framework, place) ?? {}
  const version = manifest?.version
  if (oldestVersion === undefined) return undefined
  if (typeof version !== 'string' || !isOlder(version, oldestVersion)) return undefined
  return `${name} ${version} is installed in ${place.folder}. The service needs ${oldestVersion} or newer`
}

/** Compares the major and the minor version. */
function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number.parseFloat)
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number.parseFloat)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}

/** Folders above `root` may belong to somebody else, so they are not searched. */
function findPackage({ packageName, otherPackages = [] }: Packages, place: TestedFolders) {
  for (const name of [packageName ?? [], otherPackages].flat()) {
    const folder = foldersIn(place)
      .map((at) => join(at, PACKAGES, name))
      .find((one) => existsSync(join(one, 'package.json')))
    if (folder === undefined) continue
    // Packages may have been installed by another user.
    const file = realpathSync(join(folder, 'package.json'))
    const content: unknown = JSON.parse(readRegularFile(file, { acceptsAnyOwner: true }))
    return { name, folder, manifest: isObject(content) ? content : {} }
  }
  return undefined
}

/** With Yarn's Plug'n'Play, the packages are in no folder, and only Yarn finds them. Undefined if it is not used. */
export function howToUsePlugAndPlay({ name }: Framework, place: TestedFolders): string | undefined {
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
