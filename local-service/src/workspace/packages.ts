import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { type Framework, isObject } from '../frameworks/framework.ts'
import { readRegularFile } from './files.ts'
import { foldersBetween, isInside } from './paths.ts'
import type { Place } from './work-tree.ts'

const PACKAGES = 'node_modules'
/** Vite writes there when it loads a configuration, and stops if it cannot write. So a work tree gets folders of its own. */
const TOOL_FOLDER = /^\.(cache|vite)/

/**
 * The command of an npm package, as Node would find it from a folder. Undefined if the package is not installed, or not in
 * the folder `within`.
 */
export function findPackageCommand(packageName: string, place: Place, within?: string): string | undefined {
  const found = findPackage(packageName, place, within)
  const bin = found?.manifest.bin
  const script = isObject(bin) ? Object.values(bin)[0] : bin
  return found !== undefined && typeof script === 'string' ? join(found.folder, script) : undefined
}

/** Says that the installed framework is too old. Undefined if it is not, or if it is not installed. */
export function describeOldFramework(
  { packageName, oldestVersion }: Framework,
  place: Place,
  within?: string,
): string | undefined {
  const version = findPackage(packageName, place, within)?.manifest.version
  if (typeof version !== 'string' || !isOlder(version, oldestVersion)) return undefined
  return `${packageName} ${version} is installed in ${join(place.root, place.folder)}. The service needs ${oldestVersion} or newer`
}

/** Compares the major and the minor version. */
function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number.parseFloat)
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number.parseFloat)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}

/** Folders above `root` may belong to somebody else, so they are not searched. */
function findPackage(packageName: string, place: Place, within = '/') {
  for (const at of foldersIn(place)) {
    const folder = join(at, PACKAGES, packageName)
    const manifestFile = join(folder, 'package.json')
    if (existsSync(manifestFile)) {
      const manifest = realpathSync(manifestFile)
      if (!isInside(manifest, within)) return undefined
      // Packages may have been installed by another user.
      const content: unknown = JSON.parse(readRegularFile(manifest, { acceptsAnyOwner: true }))
      return { folder, manifest: isObject(content) ? content : {} }
    }
  }
  return undefined
}

/** Yarn writes this file instead of a `node_modules` folder. Only a Node that loads the file finds the packages. */
const PLUG_AND_PLAY = '.pnp.cjs'

/** Whether Yarn installed the packages of a project without a `node_modules`, so that only Yarn can start their commands. */
export function usesPlugAndPlay(place: Place): boolean {
  return foldersIn(place).some((at) => existsSync(join(at, PLUG_AND_PLAY)))
}

/** The folders of the commands that are installed for a project, its own first. */
export function commandFoldersOf(place: Place): string[] {
  return foldersIn(place).map((at) => join(at, PACKAGES, '.bin'))
}

/**
 * Links the packages of every `node_modules` from the project up to the root into a work tree or a copy. What tools write
 * there stays in the work tree.
 */
export async function linkPackages(place: Place, tree: string): Promise<void> {
  for (const installed of installedPackages(place)) {
    const folder = join(tree, relative(place.root, installed))
    if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) continue
    await mkdir(folder)
    const source = realpathSync(installed)
    const names = readdirSync(source).filter((name) => !TOOL_FOLDER.test(name))
    await Promise.all(names.map((name) => symlink(join(source, name), join(folder, name))))
  }
}

/**
 * The folders to which `linkPackages` links. If a link is in the place of such a folder, it may lead anywhere, so it is
 * left out.
 */
export function linkedPackages(place: Place): string[] {
  return installedPackages(place).filter((installed) => realpathSync(installed) === installed)
}

/**
 * Finds a link from the installed packages to the repository's own code. Package managers create such links for
 * workspaces. Through the link, the tests of a work tree would use the code of the repository's folder.
 */
export function findLinkIntoRepository(place: Place) {
  const { root } = place
  const seen = new Set<string>()
  for (const installed of installedPackages(place)) {
    for (const path of linksIn(installed, seen)) {
      const target = targetOf(path)
      if (target === undefined || !isInside(target, root)) continue
      const way = relative(root, target)
      if (way.split('/').includes(PACKAGES)) continue
      return { link: relative(root, path), target: way || '.', installedIn: dirname(installed) }
    }
  }
  return undefined
}

/** By lock file: the package manager, its option that names another folder, and how it installs a fresh checkout. */
const MANAGERS = new Map([
  ['package-lock.json', { manager: 'npm', folderOption: '--prefix', install: ['ci'] }],
  ['npm-shrinkwrap.json', { manager: 'npm', folderOption: '--prefix', install: ['ci'] }],
  ['pnpm-lock.yaml', { manager: 'pnpm', folderOption: '--dir', install: ['install', '--frozen-lockfile'] }],
  ['yarn.lock', { manager: 'yarn', folderOption: '--cwd', install: ['install'] }],
])
/** These apply if there is no lock file. */
const NPM = { manager: 'npm', folderOption: '--prefix', install: ['install'] }
const PACKAGE_FILES = ['package.json', 'pnpm-workspace.yaml', ...MANAGERS.keys()]

/**
 * The files by which the packages of a work tree would be installed, as paths from the root. Empty if no packages are
 * linked.
 */
export function packageFilesOf(place: Place): string[] {
  if (installedPackages(place).length === 0) return []
  return foldersIn(place).flatMap((at) => PACKAGE_FILES.map((file) => relative(place.root, join(at, file))))
}

/**
 * Suggests a "setup". It is a command of the repository's package manager, to be run in the project's folder. In the
 * folder of a workspace, npm would install only what that workspace depends on.
 */
export function suggestSetup(place: Place, installedIn: string): string {
  const projectFolder = join(place.root, place.folder)
  const found = foldersIn(place)
    .flatMap((at) => [...MANAGERS].map(([file, command]) => ({ at, file, command })))
    .find(({ at, file }) => existsSync(join(at, file)))
  const { manager, folderOption, install } = found?.command ?? NPM
  const way = relative(projectFolder, found?.at ?? installedIn)
  const setup = [manager, ...(way === '' ? [] : [folderOption, way]), ...install]
  return `[${setup.map((part) => JSON.stringify(part)).join(', ')}]`
}

function installedPackages(place: Place): string[] {
  return foldersIn(place)
    .map((at) => join(at, PACKAGES))
    .filter((at) => existsSync(at))
}

/** The folders in which a project's packages may be installed, its own first. */
function foldersIn({ root, folder }: Place): string[] {
  return foldersBetween(join(root, folder), root)
}

function* linksIn(packages: string, seen: Set<string>): Generator<string> {
  const realFolder = realpathSync(packages)
  if (seen.has(realFolder)) return
  seen.add(realFolder)
  // The links in a store or a cache, such as `.pnpm`, are not packages. The packages are deeper.
  const holdsPackages = !basename(packages).startsWith('.')
  for (const entry of readdirSync(packages, { withFileTypes: true })) {
    const path = join(packages, entry.name)
    if (entry.isSymbolicLink() && holdsPackages) yield path
    if (!entry.isDirectory() || entry.name === '.bin') continue
    // A scope or a store holds packages directly. A package may hold packages in its own `node_modules`.
    const inner = /^[@.]/.test(entry.name) || entry.name === PACKAGES ? path : join(path, PACKAGES)
    if (existsSync(inner)) yield* linksIn(inner, seen)
  }
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link)
  } catch {
    // The link leads nowhere.
    return undefined
  }
}
