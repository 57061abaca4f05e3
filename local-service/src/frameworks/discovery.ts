import { existsSync, globSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fieldsOf } from '../../../src/text/json.ts'
import { readManifest } from '../machine/files.ts'
import { foldersBetween, repositoryFolderOf } from '../machine/paths.ts'
import type { Framework } from './framework.ts'
import { junit } from './junit.ts'
import { playwright } from './playwright.ts'
import { vitest } from './vitest.ts'

export const FRAMEWORKS: readonly Framework[] = [vitest, playwright, junit]

/** All frameworks that a folder uses. If it shows none, a package of a workspace uses what the nearest folder above depends on. */
export function frameworksIn(folder: string): Framework[] {
  const [here = [], ...above] = foldersBetween({ folder, root: repositoryFolderOf(folder) }).map(packagesOf)
  const files = readdirSync(folder)
  const usesOneOf = (names: readonly string[]) =>
    FRAMEWORKS.filter(({ packages }) => packages.some((name) => names.includes(name)))
  const [dependsHere, dependsAbove] = [usesOneOf(here), usesOneOf(above.flat())]
  const found = FRAMEWORKS.filter(
    (framework) =>
      dependsHere.includes(framework) ||
      files.some((file) => framework.configFile?.test(file)) ||
      (dependsAbove.includes(framework) && files.some((file) => framework.sharedConfigFile?.test(file))),
  )
  if (found.length > 0 || !existsSync(join(folder, 'package.json'))) return found
  return above.map(usesOneOf).find((frameworks) => frameworks.length > 0) ?? []
}

function packagesOf(folder: string): string[] {
  const { dependencies, devDependencies, optionalDependencies } = readManifest(folder)
  return [dependencies, devDependencies, optionalDependencies].map(fieldsOf).flatMap(Object.keys)
}

/** The test projects below a folder. In a monorepo, only the packages may depend on a framework. */
export function testProjectsBelow(folder: string): string[] {
  const exclude = (name: string) => /^(?:\.|node_modules$)/.test(basename(name))
  const files = globSync('{*,*/*,*/*/*}/{package.json,vitest*config*,playwright*config*}', { cwd: folder, exclude })
  return [...new Set(files.map(dirname))].filter((path) => frameworksIn(join(folder, path)).length > 0).sort()
}
