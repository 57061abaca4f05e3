import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import * as v from 'valibot'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { Selection } from '../frameworks/framework.ts'
import type { UserCommand } from '../machine/script.ts'
import { quote } from '../text.ts'
import {
  ConfigurationError,
  createProject,
  mapOf,
  PROJECT,
  type Project,
  problemsOf,
  whyCannotSelect,
} from './project.ts'

/** What the service serves: checked, with absolute folders. */
export type Configuration = ReturnType<typeof readConfiguration>

export const SUITE = v.strictObject({
  project: v.string(),
  name: v.optional(v.string()),
  frameworkProjects: v.optional(v.array(v.string()), []),
  // An argument with a dash would be an option of the framework.
  files: v.optional(v.array(v.pipe(v.string(), v.regex(/^[^-]/, 'It is empty or begins with "-"'))), []),
})

/** Clients remove `.` and `..` from a path before they send it. */
const ID = v.pipe(v.string(), v.regex(/^(?!\.{0,2}$)/, 'An id is not empty, "." or ".."'))

/** The configuration file. The README's tables describe it. */
const SETTINGS = v.strictObject({
  projects: v.pipe(
    mapOf(ID, PROJECT),
    v.check(({ size }) => size > 0, 'It has no project. Give at least one'),
  ),
  suites: v.optional(mapOf(ID, SUITE), {}),
})

/** Checks the settings. Relative folders start in `baseFolder`. Throws a ConfigurationError. */
export function readConfiguration(settings: unknown, baseFolder: string) {
  const result = v.safeParse(SETTINGS, settings)
  if (!result.success) throw new ConfigurationError(`The configuration: ${problemsOf(result.issues).join('\n')}`)
  const projects = new Map<string, Project>()
  for (const [id, project] of result.output.projects) projects.set(id, createProject(id, project, baseFolder))
  const suites = new Map<string, { name: string; project: Project; selection: Selection }>()
  for (const [id, { project: projectId, name = id, ...selection }] of result.output.suites) {
    const project = projects.get(projectId)
    if (project === undefined)
      throw new ConfigurationError(`Suite ${quote(id)}: There is no project ${quote(projectId)}.`)
    const refusal = whyCannotSelect(project, selection)
    if (refusal !== undefined) throw new ConfigurationError(`Suite ${quote(id)}: ${refusal}`)
    suites.set(id, { name, project, selection })
  }
  return { projects, suites }
}

/** What the options of the command, or the inputs of the action, say. */
export type ServiceInputs = {
  readonly [Name in 'folder' | 'config' | 'framework' | 'report' | 'merge' | 'runLimitMinutes']?: string | undefined
} & { readonly command?: UserCommand | undefined; readonly args?: readonly string[] | undefined }

/** Relative paths start in `currentFolder`. Throws a ConfigurationError. */
export function readServiceInputs(
  { config, runLimitMinutes: limit = '55', ...project }: ServiceInputs,
  currentFolder: string,
) {
  const runLimitMinutes = Number(limit)
  // With a much longer delay, Node's timers fire at once. The gate has the same limit.
  if (!(runLimitMinutes >= 0.001 && runLimitMinutes <= 35_000)) {
    throw new ConfigurationError(`run-limit-minutes is ${quote(limit)}. Give a number from 0.001 to 35000.`)
  }
  const source = resolve(currentFolder, config ?? project.folder ?? '.')
  if (config === undefined) {
    const id = basename(source)
    if (id === '') {
      const next = 'Give a configuration file, which has the id of each project.'
      throw new ConfigurationError(`The folder ${source} has no name, which would be the id of the project. ${next}`)
    }
    const settings = { projects: { [id]: { ...project, folder: source } } }
    return { source, runLimitMinutes, configuration: readConfiguration(settings, source) }
  }
  if (Object.values(project).some((given) => given !== undefined)) {
    throw new ConfigurationError(
      'With a configuration file, give folder, framework, command, report, merge and args in that file.',
    )
  }
  return { source, runLimitMinutes, configuration: readConfiguration(readSettings(source), dirname(source)) }
}

function readSettings(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigurationError(`The configuration file ${file} cannot be read: ${messageOf(error)}`)
  }
}
