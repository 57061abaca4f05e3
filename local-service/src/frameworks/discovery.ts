import { existsSync, globSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fieldsOf } from '../../../src/text/json.ts'
import { readManifest } from '../machine/files.ts'
import { foldersBetween, repositoryFolderOf } from '../machine/paths.ts'
import type { FolderFacts, Framework } from './framework.ts'
import { junit } from './junit.ts'
import { playwright } from './playwright.ts'
import { vitest } from './vitest.ts'

export const FRAMEWORKS: readonly Framework[] = [vitest, playwright, junit]

/** All frameworks that a folder uses. If it shows none, a package of a workspace uses what the nearest folder above depends on. */
export function frameworksIn(folder: string): Framework[] {
  const [here = NO_PACKAGES, ...above] = foldersBetween({ folder, root: repositoryFolderOf(folder) }).map(packagesOf)
  const dependenciesAbove = new Set(above.flatMap((names) => [...names]))
  const found = frameworksBy({ files: readdirSync(folder), dependencies: here, dependenciesAbove })
  if (found.length > 0 || !existsSync(join(folder, 'package.json'))) return found
  const inherited = above.map((dependencies) =>
    frameworksBy({ files: [], dependencies, dependenciesAbove: NO_PACKAGES }),
  )
  return inherited.find((frameworks) => frameworks.length > 0) ?? []
}

const NO_PACKAGES: ReadonlySet<string> = new Set()

function frameworksBy(facts: FolderFacts): Framework[] {
  return FRAMEWORKS.filter((framework) => framework.isUsedIn(facts))
}

function packagesOf(folder: string): ReadonlySet<string> {
  const { dependencies, devDependencies, optionalDependencies } = readManifest(folder)
  return new Set([dependencies, devDependencies, optionalDependencies].map(fieldsOf).flatMap(Object.keys))
}

/** The test projects below a folder. In a monorepo, only the packages may depend on a framework. */
export function testProjectsBelow(folder: string): string[] {
  const exclude = (name: string) => /^(?:\.|node_modules$)/.test(basename(name))
  const files = globSync('{*,*/*,*/*/*}/{package.json,vitest*config*,playwright*config*}', { cwd: folder, exclude })
  return [...new Set(files.map(dirname))].filter((path) => frameworksIn(join(folder, path)).length > 0).sort()
}
