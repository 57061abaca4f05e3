import { basename, resolve } from 'node:path'
import type { Selection } from './framework.ts'
import { type Project, type ProjectSettings, readProject } from './project.ts'
import { quote } from './routes.ts'
import { SettingsReader, withoutUndefined } from './settings-reader.ts'

/** The configuration file, as written: the README's table describes it. */
export interface Settings {
  readonly port?: number
  readonly keys?: readonly string[]
  readonly concurrency?: number
  readonly runLimitMinutes?: number
  readonly stopGraceSeconds?: number
  readonly projects?: Readonly<Record<string, ProjectSettings>>
  readonly suites?: Readonly<Record<string, SuiteSettings>>
}

export interface SuiteSettings {
  readonly project: string
  readonly name?: string
  readonly frameworkProjects?: readonly string[]
  readonly files?: readonly string[]
  readonly titles?: string
}

/** The configuration as the service uses it: complete, checked, with absolute folders. */
export interface Configuration {
  readonly port: number
  /** Empty: the service makes one up. */
  readonly keys: readonly string[]
  readonly concurrency: number
  readonly runLimitMs: number
  readonly stopGraceMs: number
  readonly projects: ReadonlyMap<string, Project>
  readonly suites: ReadonlyMap<string, Suite>
}

export interface Suite {
  readonly id: string
  readonly name: string
  readonly project: Project
  readonly selection: Selection
}

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** Node's timers fire at once beyond this. */
const TIMER_LIMIT_MS = 2 ** 31 - 1

/**
 * Checks the settings and fills in what they leave out; without projects, the folder itself is the only one, under its
 * own name. Throws one ConfigurationError that lists everything that is wrong.
 */
export function readConfiguration(settings: unknown, baseFolder: string): Configuration {
  const problems: string[] = []
  const top = new SettingsReader(settings, 'the configuration', problems)
  top.refuseOthers(['port', 'keys', 'concurrency', 'runLimitMinutes', 'stopGraceSeconds', 'projects', 'suites'])

  const projects = new Map<string, Project>()
  const asGiven = top.entries('projects')
  for (const [id, value] of asGiven ?? [[basename(resolve(baseFolder)), { folder: '.' }] as const]) {
    const project = readProject(id, new SettingsReader(value, `project ${quote(id)}`, problems), baseFolder)
    if (project !== undefined) projects.set(id, project)
  }
  if (asGiven?.length === 0) problems.push('"projects" is empty: name at least one, or leave it out.')

  const suites = new Map<string, Suite>()
  for (const [id, value] of top.entries('suites') ?? []) {
    const suite = readSuite(id, new SettingsReader(value, `suite ${quote(id)}`, problems), projects)
    if (suite !== undefined) suites.set(id, suite)
  }

  const configuration: Configuration = {
    port: top.number('port', 0, 65_535, 'whole') ?? 0,
    keys: readKeys(top),
    concurrency: top.number('concurrency', 1, 1000, 'whole') ?? 2,
    runLimitMs: (top.number('runLimitMinutes', 0.001, Math.floor(TIMER_LIMIT_MS / 60_000)) ?? 60) * 60_000,
    stopGraceMs: (top.number('stopGraceSeconds', 0, 3600) ?? 5) * 1000,
    projects,
    suites,
  }
  if (problems.length > 0) throw new ConfigurationError(problems.join('\n'))
  return configuration
}

function readKeys(reader: SettingsReader): string[] {
  const keys = reader.texts('keys') ?? []
  const fine = keys.every((key) => /^[\x21-\x7e]+$/.test(key))
  reader.check(fine, '"keys" holds a key that is empty, or that has blanks or characters outside ASCII in it.')
  return keys
}

function readSuite(id: string, reader: SettingsReader, projects: ReadonlyMap<string, Project>): Suite | undefined {
  reader.refuseOthers(['project', 'name', 'frameworkProjects', 'files', 'titles'])
  const projectId = reader.text('project')
  const project = projects.get(projectId ?? '')
  reader.check(
    project !== undefined,
    projectId === undefined ? '"project" is missing.' : `"project" is ${quote(projectId)}, which is no project here.`,
  )
  const files = reader.texts('files') ?? []
  reader.check(
    files.every((file) => file !== '' && !file.startsWith('-')),
    '"files" holds a part of a path that is empty or starts with "-".',
  )
  const selection: Selection = {
    frameworkProjects: reader.texts('frameworkProjects') ?? [],
    files,
    ...withoutUndefined({ titles: reader.text('titles') }),
  }
  return project && { id, name: reader.text('name') ?? id, project, selection }
}
