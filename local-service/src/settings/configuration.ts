import * as v from 'valibot'
import type { Selection } from '../frameworks/framework.ts'
import { quote } from '../text.ts'
import { PROJECT, type Project, projectIn, whyCannotSelect } from './project.ts'
import { problemsOf } from './validation.ts'

export interface Suite {
  readonly id: string
  readonly name: string
  readonly project: Project
  readonly selection: Selection
}

/** What the service serves: checked, with absolute folders. */
export interface Configuration {
  readonly projects: ReadonlyMap<string, Project>
  readonly suites: ReadonlyMap<string, Suite>
}

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

export const SUITE = v.strictObject({
  project: v.string(),
  name: v.optional(v.string()),
  frameworkProjects: v.optional(v.array(v.string()), []),
  // An argument with a dash would be an option of the framework.
  files: v.optional(v.array(v.pipe(v.string(), v.regex(/^[^-]/, 'It is empty or begins with "-"'))), []),
})

/** The configuration file. The README's tables describe it. */
const SETTINGS = v.strictObject({
  projects: v.record(v.string(), PROJECT),
  suites: v.optional(v.record(v.string(), SUITE), {}),
})

export type Settings = v.InferInput<typeof SETTINGS>

/** Checks the settings. Relative folders start in `baseFolder`. Throws a ConfigurationError. */
export function readConfiguration(settings: unknown, baseFolder: string): Configuration {
  const result = v.safeParse(SETTINGS, settings)
  if (!result.success) throw new ConfigurationError(`The configuration: ${problemsOf(result.issues).join('\n')}`)
  const projects = new Map<string, Project>()
  for (const [id, project] of Object.entries(result.output.projects)) {
    const found = projectIn(baseFolder, project)
    if (typeof found === 'string') throw new ConfigurationError(`Project ${quote(id)} ${found}`)
    projects.set(id, { id, ...found })
  }
  const suites = new Map<string, Suite>()
  for (const [id, { project: projectId, name = id, ...selection }] of Object.entries(result.output.suites)) {
    const project = projects.get(projectId)
    if (project === undefined)
      throw new ConfigurationError(`Suite ${quote(id)}: There is no project ${quote(projectId)}.`)
    const refusal = whyCannotSelect(project, selection)
    if (refusal !== undefined)
      throw new ConfigurationError(`Suite ${quote(id)}: Project ${quote(projectId)} ${refusal}`)
    suites.set(id, { id, name, project, selection })
  }
  return { projects, suites }
}
