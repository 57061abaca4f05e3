import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import * as v from 'valibot'
import { type Framework, isObject } from './frameworks/framework.ts'
import { playwright } from './frameworks/playwright.ts'
import { describeRefusedArgument } from './frameworks/refused-arguments.ts'
import { vitest } from './frameworks/vitest.ts'
import { COMMAND, settingsObject, TEXT, TEXTS, textsThat } from './settings.ts'
import { quote } from './text.ts'
import { mapOf, mustBeShown, pathTo, VARIABLES } from './validation.ts'
import { readRegularFile } from './workspace/files.ts'
import { foldersBetween, repositoryFolderOf } from './workspace/paths.ts'

/** A project's settings. If `framework` is absent, the service finds it in the project's folder. */
export interface Project extends Omit<v.InferOutput<typeof PROJECT>, 'framework'> {
  readonly id: string
  readonly framework: Framework
}

export type ContainerSettings = NonNullable<Project['container']>

const FRAMEWORKS: readonly Framework[] = [vitest, playwright]
export const FRAMEWORK_NAMES = ['vitest', 'playwright'] as const

const PROJECT = settingsObject(
  {
    folder: TEXT,
    framework: v.optional(v.picklist(FRAMEWORK_NAMES, mustBeShown('"vitest" or "playwright"'))),
    args: v.optional(textsThat(/./, 'is empty.'), []),
    command: v.optional(COMMAND),
    setup: v.optional(COMMAND),
    fix: v.optional(COMMAND),
    node: v.optional(TEXT),
    container: v.optional(
      settingsObject({
        image: v.pipe(
          TEXT,
          v.check((image) => !image.startsWith('-'), 'must not start with "-".'),
        ),
        engine: v.optional(COMMAND, ['docker']),
        options: v.optional(TEXTS, []),
      }),
    ),
    defaultBranch: v.optional(TEXT),
    defaultEnvironment: v.optional(TEXT),
    environments: v.optional(mapOf(VARIABLES), {}),
  },
  'is missing: name the folder of the project.',
)

/** The id of a project that has no other name. The root of the file system has no name. */
export function idOfFolder(folder: string): string {
  return basename(folder) || 'project'
}

export function projectSettings(baseFolder: string) {
  return v.pipe(
    PROJECT,
    v.rawTransform(({ dataset: { value: settings }, addIssue, NEVER }): Omit<Project, 'id'> => {
      const refuse = (name: keyof typeof settings, message: string) => {
        addIssue({ message, path: pathTo(name) })
        return NEVER
      }
      const { defaultEnvironment, environments } = settings
      if (defaultEnvironment !== undefined && !environments.has(defaultEnvironment)) {
        refuse('defaultEnvironment', `is ${quote(defaultEnvironment)}, which is not among "environments".`)
      }
      const folder = resolve(baseFolder, settings.folder)
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
        return refuse('folder', `is ${quote(settings.folder)}, but there is no folder ${quote(folder)}.`)
      }
      const node = settings.node === undefined ? undefined : resolve(baseFolder, settings.node)
      if (node !== undefined && !statSync(node, { throwIfNoEntry: false })?.isFile()) {
        return refuse('node', `is ${quote(settings.node)}, but there is no file ${quote(node)}. Name the executable.`)
      }
      if (node !== undefined && settings.container !== undefined) {
        return refuse('node', 'cannot be combined with "container", whose image brings its own Node.')
      }
      const candidates = frameworksOf(folder, settings.framework)
      const [framework] = candidates
      if (framework === undefined || candidates.length > 1) {
        addIssue({ message: framework === undefined ? usesNone(folder) : usesBoth(folder) })
        return NEVER
      }
      const refusal = describeRefusedArgument(framework.name, settings.args)
      if (refusal !== undefined) return refuse('args', refusal)
      // Test frameworks report files by their real path.
      return { ...settings, folder: realpathSync(folder), framework, node }
    }),
  )
}

function usesNone(folder: string): string {
  const reason = existsSync(join(folder, 'package.json'))
    ? 'has no configuration file of them. No package.json depends on them, neither there nor above it in the repository'
    : 'has no package.json and no configuration file of them'
  return `uses neither Vitest nor Playwright Test. ${folder} ${reason}. Give the folder of a test project.`
}

function usesBoth(folder: string): string {
  return `uses both Vitest and Playwright Test in ${folder}. Set the input, the option or the setting "framework" to "vitest" or "playwright".`
}

/**
 * The given framework, or the frameworks that the folder may use. Configuration files count before dependencies. A package
 * of a workspace may use what a folder above it depends on.
 */
function frameworksOf(folder: string, given: Framework['name'] | undefined): Framework[] {
  if (given !== undefined) return FRAMEWORKS.filter(({ name }) => name === given)
  const files = readdirSync(folder)
  const byConfigFile = FRAMEWORKS.filter(({ configFile }) => files.some((file) => configFile.test(file)))
  if (byConfigFile.length > 0) return byConfigFile
  const packages = files.includes('package.json') ? foldersBetween(folder, repositoryFolderOf(folder)) : []
  for (const at of packages) {
    const dependencies = dependenciesIn(at)
    const found = FRAMEWORKS.filter(({ packageName }) => dependencies.has(packageName))
    if (found.length > 0) return found
  }
  return []
}

function dependenciesIn(folder: string): Set<string> {
  try {
    const file = realpathSync(join(folder, 'package.json'))
    const manifest: unknown = JSON.parse(readRegularFile(file, { acceptsAnyOwner: true }))
    if (!isObject(manifest)) return new Set()
    return new Set([manifest.dependencies, manifest.devDependencies].filter(isObject).flatMap(Object.keys))
  } catch {
    return new Set()
  }
}
