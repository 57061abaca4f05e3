import type { Report } from '../frameworks/report.ts'
import { quote } from '../text.ts'
import { hasFailed } from './command-end.ts'
import type { CommandEnd } from './run-command.ts'
import type { TestRun } from './test-run.ts'

// Names that a request or a suite gives, and that the project does not have. The frameworks do not refuse all of them.

/** The names of all or the selected framework projects. Undefined if the framework cannot list them. */
type ListProjects = (...frameworkProjects: string[]) => Promise<string[] | undefined>

/** Finds requested names that no framework project has. */
export async function describeUnknownProjects(
  { selection: { frameworkProjects: names }, project: { framework } }: TestRun,
  end: CommandEnd,
  report: Report | undefined,
  list: ListProjects,
): Promise<string | undefined> {
  const couldBeUnknown = report === undefined && hasFailed(end) && names.length > 0
  const withoutProject = end.kind === 'exited' ? await namesWithoutProject(names, report, list) : []
  if (withoutProject.length === 0 && !couldBeUnknown) return undefined
  const existing = await list()
  const unknown = couldBeUnknown ? namesNotListed(names, existing) : withoutProject
  if (unknown.length === 0) return undefined
  const known = existing?.toSorted().map(quote).join(', ') || 'none'
  return `${framework.name} has no project ${unknown.map(quote).join(', ')}. Its projects: ${known}`
}

/**
 * Vitest ignores an unknown name beside a valid name. So the service asks the framework about each name that has no tested
 * file.
 */
async function namesWithoutProject(
  names: readonly string[],
  report: Report | undefined,
  list: ListProjects,
): Promise<string[]> {
  const tested = report?.frameworkProjects
  if (tested === undefined || names.length < 2) return []
  const unknown: string[] = []
  for (const name of names) if (!tested.includes(name) && (await list(name)) === undefined) unknown.push(name)
  return unknown
}

/** Patterns such as `a*` are in no list, so a pattern never counts as unknown. */
function namesNotListed(names: readonly string[], listed: readonly string[] | undefined): string[] {
  return names.filter((name) => listed?.includes(name) === false && !/[*!]/.test(name))
}

/** Vitest lists the tests with other titles as skipped, and exits with 0 even if there are no other tests. */
export function describeUnknownTitles(
  { selection: { titles }, project: { framework } }: TestRun,
  end: CommandEnd,
  report: Report | undefined,
): string | undefined {
  if (titles === undefined || end.kind !== 'exited' || !report?.isComplete) return undefined
  const { name, skipsOtherTitles } = framework
  const hasTests = report.testCases.some(({ status }) => !skipsOtherTitles || status !== 'SKIPPED')
  if (hasTests) return undefined
  return `${name} found no tests with the titles ${quote(titles)}${skipsOtherTitles ? ', or skipped all of them' : ''}`
}
