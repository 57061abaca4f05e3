import { existsSync, globSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fieldsOf } from '../../../src/text/json.ts'
import { foldersBetween, readManifest } from '../machine/files.ts'
import type { Framework } from './framework.ts'
import { jest } from './jest.ts'
import { playwright } from './playwright.ts'
import { vitest } from './vitest.ts'

/** The frameworks that the service finds. A project with `report` is one of JUnit files. */
export const FRAMEWORKS: readonly Framework[] = [vitest, playwright, jest]

/** Also with a name of one's own, such as `vitest.e2e.config.ts`. */
const configFileOf = ({ name }: Framework) =>
  new RegExp(`^${name}\\b.*\\b(?:config|workspace)\\b.*\\.(?:[cm]?[jt]s|json)$`)
const CONFIG_FILE_OF_VITE = /^vite\.config\.[cm]?[jt]s$/

/**
 * All frameworks that a folder uses. It uses a framework in one of these cases:
 * 1. Its package.json depends on the framework, or configures it.
 * 2. It has a configuration file of the framework, such as `playwright.config.ts`.
 * 3. The framework is Vitest, the folder has a configuration file of Vite, and a folder above it depends on Vitest.
 * 4. None of these is true for any framework, but it has a package.json. Then it uses what the nearest folder above it depends on.
 */
export function frameworksIn(folder: string): Framework[] {
  const root = foldersBetween({ folder, root: '/' }).find((at) => existsSync(join(at, '.git'))) ?? folder
  const [here = [], ...above] = foldersBetween({ folder, root }).map(dependenciesOf)
  const files = readdirSync(folder)
  const hasFile = (pattern: RegExp) => files.some((file) => pattern.test(file))
  const isOfVitest = hasFile(CONFIG_FILE_OF_VITE) && above.flat().includes(vitest)
  const found = FRAMEWORKS.filter(
    (one) => here.includes(one) || hasFile(configFileOf(one)) || (one === vitest && isOfVitest),
  )
  if (found.length > 0 || !existsSync(join(folder, 'package.json'))) return found
  return above.find((frameworks) => frameworks.length > 0) ?? []
}

/** The frameworks on which the package of a folder depends. Only Jest can be configured in the package.json. */
function dependenciesOf(folder: string): Framework[] {
  const manifest = readManifest(folder)
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const names = [dependencies, devDependencies, optionalDependencies].map(fieldsOf).flatMap(Object.keys)
  if (Object.hasOwn(manifest, 'jest')) names.push('jest')
  return FRAMEWORKS.filter(({ packages }) => packages.some((name) => names.includes(name)))
}

/** The test projects below a folder. In a monorepo, only the packages may depend on a framework. */
export function testProjectsBelow(folder: string): string[] {
  const exclude = (name: string) => /^(?:\.|node_modules$)/.test(basename(name))
  const files = globSync('{*,*/*,*/*/*}/{package.json,vitest*config*,playwright*config*,jest*config*}', {
    cwd: folder,
    exclude,
  })
  return [...new Set(files.map(dirname))].filter((path) => frameworksIn(join(folder, path)).length > 0).sort()
}
