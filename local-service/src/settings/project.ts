import { realpathSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import * as v from 'valibot'
import { isObject } from '../../../src/text/json.ts'
import { FRAMEWORKS, frameworksIn, testProjectsBelow } from '../frameworks/discovery.ts'
import type { Framework, Selection } from '../frameworks/framework.ts'
import { junit } from '../frameworks/junit.ts'
import { whyRefused } from '../frameworks/refused-settings.ts'
import { quote, quoteAll } from '../text.ts'

/** The service cannot start with these settings. */
export class ConfigurationError extends Error {}

/** A checked project. Its framework is the one that the settings name, or the one that the service has found in the folder. */
export interface Project extends Omit<v.InferOutput<typeof PROJECT>, 'framework'> {
  readonly id: string
  readonly framework: Framework
}

/** Numbers and booleans become the text that a process sees. Nested values are refused. */
const VARIABLE = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform(String),
  v.regex(/^[^\0]*$/, 'It has a NUL character, which no environment variable can have'),
)

const NAME_OF_VARIABLE = v.pipe(v.string(), v.regex(/^[^=\0]+$/, 'It cannot be the name of an environment variable'))

/**
 * An object with any names, as a Map. Valibot's own `record` takes an array for an object, and leaves out without a word what is called
 * `constructor`, `prototype` or `__proto__`.
 */
export function mapOf<const Key extends v.GenericSchema<string>, const Value extends v.GenericSchema>(
  key: Key,
  value: Value,
) {
  return v.pipe(
    v.custom<Readonly<Record<string, v.InferInput<Value>>>>(isObject, 'It is not an object'),
    v.transform((object) => new Map(Object.entries(object))),
    v.map(key, value),
  )
}

export const VARIABLES = mapOf(NAME_OF_VARIABLE, VARIABLE)

/** GitHub's runner too replaces Windows line ends before a shell reads a script. */
const SCRIPT = v.pipe(
  v.string(),
  v.transform((script) => script.replaceAll('\r\n', '\n').trim()),
  v.nonEmpty('It is empty'),
)

const ARGV = v.pipe(v.array(v.string()), v.minLength(1, 'It is empty'))

/** Such as `./podman` and `--root=../images`. */
const RELATIVE_PATH = /(^|=)\.\.?\//
/** Such as `bin/podman`. */
const RELATIVE_PROGRAM = /^[^/]+\//

const ENGINE = v.pipe(
  ARGV,
  v.check(
    (words) => !words.some((word) => RELATIVE_PATH.test(word)) && !RELATIVE_PROGRAM.test(words[0] ?? ''),
    'It has a relative path. Give the whole path, because the service also calls the engine in other folders',
  ),
  // The engine takes the values of the tests' variables from its environment, which `sudo` clears.
  v.check(
    ([program = '']) => basename(program) !== 'sudo',
    'It begins with "sudo", which removes the variables of the tests. Give an engine that your user can run without "sudo"',
  ),
)

const COMMAND = v.union([SCRIPT, ARGV], 'It is neither a string nor a list of strings')

export const PROJECT = v.strictObject({
  folder: v.string(),
  framework: v.optional(
    v.picklist(
      FRAMEWORKS.map(({ name }) => name),
      ({ input }) =>
        `It is ${quote(input)}. Give ${namesOf(FRAMEWORKS)}. For any other test tool, give "report" instead`,
    ),
  ),
  args: v.optional(v.array(v.string()), []),
  command: v.optional(COMMAND),
  report: v.optional(v.string()),
  merge: v.optional(v.pipe(v.string(), v.nonEmpty('It is empty'))),
  setup: v.optional(COMMAND),
  fix: v.optional(COMMAND),
  container: v.optional(
    v.strictObject({
      image: v.pipe(v.string(), v.regex(/^[^-]/, 'It is empty or begins with "-"')),
      engine: v.optional(ENGINE, ['docker']),
      options: v.optional(v.array(v.string()), []),
    }),
  ),
  environments: v.optional(mapOf(v.string(), VARIABLES), {}),
})

/** Says each problem in one sentence, on one line. */
export function problemsOf(issues: readonly v.BaseIssue<unknown>[]): string[] {
  return issues.map((issue) => `${quote(v.getDotPath(issue) ?? '')}: ${describe(issue).replace(/\s+/g, ' ')}.`)
}

/** Valibot says of a missing and of an unknown member only "Invalid key". */
function describe({ message, expected, received }: v.BaseIssue<unknown>): string {
  if (!message.startsWith('Invalid key')) return message
  return expected === 'never' ? `The service does not know ${received}` : 'It is missing'
}

/** Throws a ConfigurationError if the project cannot be served. */
export function createProject(id: string, settings: v.InferOutput<typeof PROJECT>, baseFolder: string): Project {
  const errorOf = (reason: string) => new ConfigurationError(`Project ${quote(id)} ${reason}`)
  const folder = resolve(baseFolder, settings.folder)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw errorOf(`has no folder ${folder}. Check "folder", or the input working-directory.`)
  const { report, framework: name } = settings
  if (report !== undefined && name !== undefined) {
    throw errorOf(
      'has both "report" and "framework". Leave "framework" out to read JUnit files, or leave "report" out.',
    )
  }
  const named = name === undefined ? frameworksIn(folder) : FRAMEWORKS.filter((framework) => framework.name === name)
  const candidates = report === undefined ? named : [junit]
  const [framework] = candidates
  if (framework === undefined) throw errorOf(usesNone(folder))
  if (candidates.length > 1) {
    const next = `Set "framework" to ${namesOf(candidates)}. To run several, give each a service and a gate of its own.`
    throw errorOf(`uses ${titlesOf(candidates)} in ${folder}. ${next}`)
  }
  const problem = whyRefused(framework.name, settings, folder)
  if (problem !== undefined) throw errorOf(`cannot be served: ${problem}`)
  // Test frameworks report files by their real path.
  return { ...settings, id, folder: realpathSync(folder), framework }
}

/** Lists names as `"vitest", "playwright" or "jest"`. In British English, there is no comma before the last word. */
function namesOf(frameworks: readonly Framework[]): string {
  const names = frameworks.map(({ name }) => quote(name))
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names)
}

function titlesOf(frameworks: readonly Framework[]): string {
  return new Intl.ListFormat('en-GB').format(frameworks.map(({ title }) => title))
}

function usesNone(folder: string): string {
  const packages = testProjectsBelow(folder)
  const next = `Give the folder of a test project${packages.length === 0 ? '' : `, such as ${quoteAll(packages)}`}.`
  return `uses none of ${titlesOf(FRAMEWORKS)}. ${folder} has no configuration file of them, and no package.json that depends on them. ${next} For every other test tool, give "report", the JUnit file that it writes, and "command", which runs it.`
}

/** Whether a run reads the reports of earlier steps or jobs, and runs no test. */
export function readsReports({ framework, command, merge }: Project): boolean {
  return merge !== undefined || (framework.name === 'junit' && command === undefined)
}

/** Undefined if the project's framework can select these tests. */
export function whyCannotSelect(project: Project, { frameworkProjects, files }: Selection): string | undefined {
  const selected = [...frameworkProjects, ...files].join(', ')
  const refuse = (what: string) =>
    `Project ${quote(project.id)} ${what}, so nothing can select tests. Leave out the gate's input framework-project, or the selection of the suite: ${quote(selected)}.`
  if (selected === '') return undefined
  if (readsReports(project)) return refuse('only reads reports')
  return project.framework.name === 'junit' ? refuse('runs a command of its own') : undefined
}
