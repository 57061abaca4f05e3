import { resolve } from 'node:path'
import * as v from 'valibot'
import type { Selection } from './frameworks/framework.ts'
import { idOfFolder, type Project, projectSettings } from './project.ts'
import { numberFrom, settingsObject, TEXT, TEXTS, textsThat, wholeNumberFrom } from './settings.ts'
import { quote } from './text.ts'
import { mapOf, pathTo, validate } from './validation.ts'

/** The configuration as the service uses it: complete, checked, with absolute folders. */
export type Configuration = v.InferOutput<ReturnType<typeof settingsSchema>>

export interface Suite {
  readonly id: string
  readonly name: string
  readonly project: Project
  readonly selection: Selection
}

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

export const HIGHEST_PORT = 65_535
/** With a much longer delay, Node's timers fire at once. The actions have the same limit. */
const LIMIT_MINUTES = numberFrom(0.001, 35_000)

export const API_KEY = /^[\x21-\x7e]+$/
const KEYS = textsThat(API_KEY, 'is empty or contains whitespace or non-ASCII characters.')

const SUITE = settingsObject({
  project: TEXT,
  name: v.optional(TEXT),
  frameworkProjects: v.optional(TEXTS, []),
  files: v.optional(textsThat(/^[^-]/, 'is empty or starts with "-".'), []),
})

/** The configuration file. The README's tables describe it. */
function settingsSchema(baseFolder: string) {
  const settings = settingsObject({
    port: v.optional(wholeNumberFrom(0, HIGHEST_PORT), 0),
    /** If there are no keys, the service makes a key. */
    keys: v.optional(KEYS, []),
    concurrency: v.optional(wholeNumberFrom(1, 1000), 2),
    runLimitMinutes: v.optional(LIMIT_MINUTES, 60),
    stopGraceSeconds: v.optional(numberFrom(0, 3600), 5),
    outputs: v.optional(TEXT),
    projects: v.optional(
      v.pipe(mapOf(projectSettings(baseFolder)), v.minSize(1, 'is empty: name at least one project, or leave it out.')),
      // If there are no projects, the folder is the only project. The folder's name is its id.
      { [idOfFolder(resolve(baseFolder))]: { folder: '.' } },
    ),
    suites: v.optional(mapOf(SUITE), {}),
  })
  return v.pipe(
    settings,
    v.rawTransform(({ dataset: { value }, addIssue }) => {
      const projects = new Map<string, Project>()
      for (const [id, project] of value.projects) projects.set(id, { id, ...project })
      const suites = new Map<string, Suite>()
      for (const [id, { project: projectId, name = id, ...selection }] of value.suites) {
        const project = projects.get(projectId)
        if (project !== undefined) suites.set(id, { id, name, project, selection })
        else {
          const message = `is ${quote(projectId)}, which is not one of the projects.`
          addIssue({ message, path: pathTo('suites', id, 'project') })
        }
      }
      const { port, keys, concurrency, outputs } = value
      return {
        ...{ port, keys, concurrency, projects, suites },
        runLimitMs: value.runLimitMinutes * 60_000,
        stopGraceMs: value.stopGraceSeconds * 1000,
        outputs: outputs === undefined ? undefined : resolve(baseFolder, outputs),
      }
    }),
  )
}

export type Settings = v.InferInput<ReturnType<typeof settingsSchema>>

/** Checks the settings and fills in what they leave out. Throws one ConfigurationError that lists all problems. */
export function readConfiguration(settings: unknown, baseFolder: string): Configuration {
  const result = validate(settingsSchema(baseFolder), settings, subjectOf)
  if (result.kind === 'invalid') throw new ConfigurationError(result.problems.join('\n'))
  return result.value
}

function subjectOf(path: readonly string[]): string {
  const [group, id, ...rest] = path
  const kind = group === 'projects' ? 'Project' : group === 'suites' ? 'Suite' : undefined
  if (kind === undefined || id === undefined) return withNames('The configuration', path)
  return withNames(`${kind} ${quote(id)}`, rest)
}

function withNames(owner: string, names: readonly string[]): string {
  return names.length === 0 ? owner : `${owner}: ${quote(names.join('.'))}`
}
