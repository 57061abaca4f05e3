import { existsSync, globSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import * as v from 'valibot'
import { fieldsOf } from '../../../src/text/json.ts'
import type { Framework, Selection } from '../frameworks/framework.ts'
import { junit } from '../frameworks/junit.ts'
import { playwright } from '../frameworks/playwright.ts'
import { vitest } from '../frameworks/vitest.ts'
import { readManifest } from '../machine/files.ts'
import { foldersBetween, repositoryFolderOf } from '../machine/paths.ts'
import { quote } from '../text.ts'
import { VARIABLES } from './validation.ts'

/** A project's settings. If `framework` is absent, the service finds it in the project's folder. */
export interface Project extends Omit<v.InferOutput<typeof PROJECT>, 'framework'> {
  readonly id: string
  readonly framework: Framework
}

const FRAMEWORKS: readonly Framework[] = [vitest, playwright, junit]
export const FRAMEWORK_NAMES = ['vitest', 'playwright', 'junit'] as const

/**
 * A program and its arguments. If somebody writes a whole command as one argument, the system would only say that the program
 * is missing.
 */
const COMMAND = v.pipe(
  v.array(v.string()),
  v.minLength(1, 'It is empty'),
  v.check(
    ([program = '']) => !/^[^/]*\s/.test(program.trim()),
    ({ input }) =>
      `It begins with ${quote(Array.isArray(input) ? input[0] : input)}, which has a space. Write the program and each argument on a line of its own, or as an entry of the list`,
  ),
)

export const PROJECT = v.strictObject({
  folder: v.string(),
  framework: v.optional(
    v.picklist(
      FRAMEWORK_NAMES,
      ({ input }) => `It is ${quote(input)}. Give "vitest" or "playwright", or "junit" for any other test tool`,
    ),
  ),
  args: v.optional(v.array(v.string()), []),
  command: v.optional(COMMAND),
  report: v.optional(v.pipe(v.string(), v.nonEmpty('It is empty'))),
  setup: v.optional(COMMAND),
  fix: v.optional(COMMAND),
  container: v.optional(
    v.strictObject({
      image: v.pipe(v.string(), v.regex(/^[^-]/, 'It is empty or begins with "-"')),
      engine: v.optional(COMMAND, ['docker']),
      options: v.optional(v.array(v.string()), []),
    }),
  ),
  environments: v.optional(v.record(v.string(), VARIABLES), {}),
})

/** The id of a project that has no other name. The root of the file system has no name. */
export function idOfFolder(folder: string): string {
  return basename(folder) || 'project'
}

/** The project, or the rest of a sentence that says why it cannot be served. */
export function projectIn(baseFolder: string, settings: v.InferOutput<typeof PROJECT>): Omit<Project, 'id'> | string {
  const folder = resolve(baseFolder, settings.folder)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return `has no folder ${folder}.`
  const [framework, ...others] = frameworksOf(folder, settings.framework)
  if (framework === undefined) return usesNone(folder)
  if (others.length > 0) return usesBoth(folder)
  const refusal = framework.refuse(settings)
  if (refusal !== undefined) return refusal
  // Test frameworks report files by their real path.
  return { ...settings, folder: realpathSync(folder), framework }
}

function usesNone(folder: string): string {
  const reason = existsSync(join(folder, 'package.json'))
    ? 'has no configuration file of them. No package.json depends on them, neither there nor above it in the repository'
    : 'has no package.json and no configuration file of them'
  const packages = testProjectsBelow(folder).map(quote)
  const names = [...packages.slice(0, LISTED_PACKAGES), ...(packages.length > LISTED_PACKAGES ? ['…'] : [])]
  const next = `Give the folder of a test project${names.length === 0 ? '' : `, such as ${names.join(', ')}`}.`
  return `uses neither Vitest nor Playwright Test. ${folder} ${reason}. ${next} For every other test tool, set "framework" to "junit", with "command" and "report".`
}

const LISTED_PACKAGES = 10

/** In a monorepo, only the packages may depend on a framework. */
function testProjectsBelow(folder: string): string[] {
  const exclude = (name: string) => /^(?:\.|node_modules$)/.test(basename(name))
  const files = globSync('{*,*/*,*/*/*}/{package.json,vitest.config.*,playwright*.config.*}', { cwd: folder, exclude })
  return [...new Set(files.map(dirname))].filter((path) => frameworksIn(join(folder, path)).length > 0).sort()
}

/** The rest of a sentence that begins with the project. Undefined if the project's framework can select these tests. */
export function whyCannotSelect({ framework }: Project, { frameworkProjects }: Selection): string | undefined {
  if (framework.hasProjects || frameworkProjects.length === 0) return undefined
  return `runs a command of its own, which has no framework projects. Leave out ${quote(frameworkProjects.join(', '))}.`
}

function usesBoth(folder: string): string {
  return `uses both Vitest and Playwright Test in ${folder}. Set "framework" to "vitest" or "playwright".`
}

/** The given framework, or the frameworks that the folder may use. A package of a workspace may use what a folder above it uses. */
function frameworksOf(folder: string, given: Framework['name'] | undefined): Framework[] {
  if (given !== undefined) return FRAMEWORKS.filter(({ name }) => name === given)
  const found = frameworksIn(folder)
  if (found.length > 0 || !existsSync(join(folder, 'package.json'))) return found
  const above = foldersBetween(folder, repositoryFolderOf(folder)).map(dependedOnIn)
  return above.find((frameworks) => frameworks.length > 0) ?? []
}

/** Configuration files count before dependencies. */
function frameworksIn(folder: string): Framework[] {
  const files = readdirSync(folder)
  const byConfigFile = FRAMEWORKS.filter(({ configFile }) => files.some((file) => configFile?.test(file)))
  return byConfigFile.length > 0 ? byConfigFile : dependedOnIn(folder)
}

function dependedOnIn(folder: string): Framework[] {
  const { dependencies, devDependencies } = readManifest(folder)
  const names = new Set([dependencies, devDependencies].map(fieldsOf).flatMap(Object.keys))
  return FRAMEWORKS.filter(({ packageName = '', otherPackages = [] }) =>
    [packageName, ...otherPackages].some((name) => names.has(name)),
  )
}
