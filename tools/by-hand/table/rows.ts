import type { Framework } from '../results.ts'
import { PLAYWRIGHT_ARGUMENTS } from './playwright-arguments.ts'
import { PLAYWRIGHT_PROJECTS, PLAYWRIGHT_PROJECTS_FOR_ARGUMENTS } from './playwright-projects.ts'
import type { Project } from './project.ts'
import { VITEST_ARGUMENTS } from './vitest-arguments.ts'
import { VITEST_PROJECTS, VITEST_PROJECTS_FOR_ARGUMENTS } from './vitest-projects.ts'

/** A project with arguments, for one version of a framework. */
export interface Row {
  readonly project: Project
  readonly args: readonly string[]
  readonly version: number
}

const VERSIONS: Readonly<Record<Framework, readonly number[]>> = { vitest: [3, 4, 5], playwright: [1] }

/** The table of arguments and the table of projects. */
export const ROWS: readonly Row[] = [
  ...VITEST_PROJECTS.flatMap((project) => rowsOf(project, [])),
  ...PLAYWRIGHT_PROJECTS.flatMap((project) => rowsOf(project, [])),
  ...rowsWithArguments(PLAYWRIGHT_PROJECTS_FOR_ARGUMENTS, PLAYWRIGHT_ARGUMENTS),
  ...rowsWithArguments(VITEST_PROJECTS_FOR_ARGUMENTS, VITEST_ARGUMENTS),
]

function rowsWithArguments(
  projects: readonly Project[],
  table: Readonly<Record<string, readonly (readonly string[])[]>>,
): Row[] {
  return Object.entries(table).flatMap(([name, sets]) => {
    const project = projects.find((one) => one.name === name)
    if (project === undefined) throw new Error(`There is no project ${name}.`)
    return sets.flatMap((args) => rowsOf(project, args))
  })
}

function rowsOf(project: Project, args: readonly string[]): Row[] {
  const versions = project.versions ?? VERSIONS[project.framework]
  return versions.map((version) => ({ project, args, version }))
}

/** What a person types to run it, and the name of the project. */
export function nameOf({ project, args }: Pick<Row, 'project' | 'args'>): string {
  const command = project.framework === 'vitest' ? 'vitest run' : 'playwright test'
  const typed = args.map((arg) => (/^[\w./=:@%^-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`))
  return `${[command, ...typed].join(' ')} (${project.name})`
}
