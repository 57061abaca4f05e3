import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Framework, isObject } from './framework.ts'
import { playwright } from './playwright-framework.ts'
import { quote } from './routes.ts'
import { SettingsReader, withoutUndefined } from './settings-reader.ts'
import { vitest } from './vitest-framework.ts'

export interface ProjectSettings {
  readonly folder: string
  readonly framework?: 'vitest' | 'playwright'
  readonly command?: readonly string[]
  readonly setup?: readonly string[]
  readonly autofix?: readonly string[]
  readonly defaultBranch?: string
  readonly defaultEnvironment?: string
  readonly environments?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export interface Project {
  readonly id: string
  readonly folder: string
  readonly framework: Framework
  /** Called instead of the framework's installed command, with the same arguments. */
  readonly command?: readonly string[]
  /** Run in each new work tree before the tests. */
  readonly setup?: readonly string[]
  /** Run after failing tests, where a client asked for auto-fix. */
  readonly autofix?: readonly string[]
  readonly defaultBranch?: string
  readonly defaultEnvironment?: string
  readonly environments: ReadonlyMap<string, Readonly<Record<string, string>>>
}

const FRAMEWORKS: readonly Framework[] = [vitest, playwright]

/** Checks a project's settings and finds out what they leave open; undefined where the reader noted that it cannot be used. */
export function readProject(id: string, reader: SettingsReader, baseFolder: string): Project | undefined {
  reader.refuseOthers([
    'folder',
    'framework',
    'command',
    'setup',
    'autofix',
    'defaultBranch',
    'defaultEnvironment',
    'environments',
  ])
  const folder = readFolder(reader, baseFolder)
  if (folder === undefined) return undefined
  const framework = readFramework(reader, folder)
  if (framework === undefined) return undefined

  const environments = new Map<string, Readonly<Record<string, string>>>()
  for (const [name, value] of reader.entries('environments') ?? []) {
    environments.set(
      name,
      new SettingsReader(value, `${reader.name}, environment ${quote(name)}`, reader.problems).variables(),
    )
  }
  const defaultEnvironment = reader.text('defaultEnvironment')
  reader.check(
    defaultEnvironment === undefined || environments.has(defaultEnvironment),
    `"defaultEnvironment" is ${quote(defaultEnvironment)}, which is not among "environments".`,
  )
  return {
    id,
    folder,
    framework,
    environments,
    ...withoutUndefined({
      command: reader.command('command'),
      setup: reader.command('setup'),
      autofix: reader.command('autofix'),
      defaultBranch: reader.text('defaultBranch'),
      defaultEnvironment,
    }),
  }
}

function readFolder(reader: SettingsReader, baseFolder: string): string | undefined {
  const given = reader.text('folder')
  if (given === undefined) {
    reader.check(false, '"folder" is missing: say where the project is.')
    return undefined
  }
  const folder = resolve(baseFolder, given)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    reader.check(false, `"folder" is ${quote(given)}, but there is no folder ${quote(folder)}.`)
    return undefined
  }
  // The real path: test frameworks report files by it.
  return realpathSync(folder)
}

function readFramework(reader: SettingsReader, folder: string): Framework | undefined {
  const given = reader.text('framework')
  if (given !== undefined) {
    const known = FRAMEWORKS.find((framework) => framework.name === given)
    reader.check(known !== undefined, `"framework" is ${quote(given)}; it can be "vitest" or "playwright".`)
    return known
  }
  const files = readdirSync(folder)
  const byConfigFile = FRAMEWORKS.filter((framework) => files.some((file) => framework.configFile.test(file)))
  if (byConfigFile.length === 1) return byConfigFile[0]
  const dependencies = dependenciesIn(folder)
  const candidates = byConfigFile.length > 1 ? byConfigFile : FRAMEWORKS.filter((f) => dependencies.has(f.packageName))
  if (candidates.length === 1) return candidates[0]
  reader.check(
    false,
    candidates.length > 1
      ? `${folder} uses both Vitest and Playwright Test. Say which with "framework", or --framework.`
      : `${folder} has neither a Vitest nor a Playwright configuration, and no package.json that depends on one of ` +
          'them. Start the service in the folder of a test project, or name it.',
  )
  return undefined
}

function dependenciesIn(folder: string): Set<string> {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return new Set()
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isObject(manifest)) return new Set()
    return new Set([manifest.dependencies, manifest.devDependencies].filter(isObject).flatMap(Object.keys))
  } catch {
    return new Set()
  }
}
