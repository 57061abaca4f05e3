import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isObject } from '../../../src/text/json.ts'
import type { Framework } from '../frameworks/framework.ts'
import { type Unusable, unusable } from '../frameworks/unusable.ts'
import { foldersBetween, isInside, readManifest, type TestedFolders } from '../machine/files.ts'

const PACKAGES = 'node_modules'
/** Vite writes there when it loads a configuration. So a work tree gets folders of its own. */
const TOOL_FOLDER = /^\.(cache|vite)/

/**
 * Finds the script of the framework's package. If there is none, or if the package is too old, returns why no test can run. This reason is
 * for the user: `where` says in which place the package must be, and `remedy` how it gets there.
 */
export function findFramework(
  { name: command, packages, oldestVersion }: Framework,
  tested: TestedFolders,
  where = tested.folder,
  remedy = 'Install the packages first, for example with "npm ci", or set "command".',
): { readonly script: string } | Unusable {
  // Folders above `root` may belong to somebody else, so they are not searched.
  const folders = foldersBetween(tested)
  const found = packages
    .flatMap((name) => folders.map((at) => ({ name, folder: join(at, PACKAGES, name) })))
    .find(({ folder }) => existsSync(join(folder, 'package.json')))
  const { version, bin }: Partial<Record<string, unknown>> = found === undefined ? {} : readManifest(found.folder)
  if (typeof version === 'string' && orderOf(version) < orderOf(oldestVersion)) {
    return unusable(
      `${found?.name} ${version} is installed in ${where}. The service needs ${oldestVersion} or newer. Update the package.`,
    )
  }
  const script = isObject(bin) ? Object.values(bin)[0] : bin
  if (found !== undefined && typeof script === 'string') return { script: join(found.folder, script) }
  // With Yarn's Plug'n'Play, the packages are in no folder, and only Yarn finds them.
  const howToUseYarn = `Yarn's Plug'n'Play is used there (.pnp.cjs). Set "command" to "yarn ${command}".`
  const usesYarn = folders.some((at) => existsSync(join(at, '.pnp.cjs')))
  return unusable(`${packages[0]} is not installed in ${where}. ${usesYarn ? howToUseYarn : remedy}`)
}

/** Such as 1045 for `1.45.3`. The first call of `localeCompare` would take 7 ms of the start of the service. */
function orderOf(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return 1000 * major + minor
}

/** Links the packages of every `node_modules` from the project up to the root into a work tree. */
export async function linkPackages(project: TestedFolders, tree: string): Promise<void> {
  for (const at of foldersBetween(project)) {
    const [installed, folder] = [join(at, PACKAGES), join(tree, relative(project.root, at), PACKAGES)]
    // If the folder exists, the branch has it, or an earlier call has made it. So two packages that link to each other end here.
    if (!existsSync(installed) || lstatSync(folder, { throwIfNoEntry: false }) !== undefined) continue
    await linkEntries(installed, folder, project.root, tree)
  }
}

async function linkEntries(installed: string, folder: string, root: string, tree: string): Promise<void> {
  await mkdir(folder)
  for (const name of readdirSync(installed).filter((entry) => !TOOL_FOLDER.test(entry))) {
    const [entry, link] = [join(installed, name), join(folder, name)]
    const source = sourceBehind(entry, root)
    if (source !== undefined) {
      const sourceInTree = join(tree, relative(root, source))
      // If the branch does not have these sources, the package gets no link, and its import fails. A link into the project's own folder would give
      // the tests the sources of another commit.
      if (!existsSync(sourceInTree)) continue
      await symlink(sourceInTree, link)
      await linkPackages({ root, folder: source }, tree)
    } else if (name.startsWith('@') && existsSync(entry)) {
      // A scope is a folder such as `@shop`, with packages in it. Some of them may be links to sources.
      await linkEntries(entry, link, root, tree)
    } else {
      await symlink(entry, link)
    }
  }
}

/** In a workspace, `node_modules/@shop/cart` may be a link to `packages/cart`, which is source of the repository itself. */
function sourceBehind(entry: string, root: string): string | undefined {
  if (!lstatSync(entry).isSymbolicLink() || !existsSync(entry)) return undefined
  const path = realpathSync(entry)
  return isInside(path, root) && !relative(root, path).split(sep).includes(PACKAGES) ? path : undefined
}
