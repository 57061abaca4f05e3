import { mkdirSync, realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { COMMANDS } from '../by-hand.ts'
import type { Framework } from '../results.ts'
import { type Result, runBoth, temporaryFolder } from '../run.ts'
import { JEST_PROJECTS } from './jest-projects.ts'
import { PLAYWRIGHT_PROJECTS } from './playwright-projects.ts'
import { type Project, writeProject } from './project.ts'
import { VITEST_PROJECTS } from './vitest-projects.ts'

/** A project with arguments, for one version of a framework. */
export interface Row {
  readonly project: Project
  readonly args: readonly string[]
  readonly version: number
}

const VERSIONS: Readonly<Record<Framework, readonly number[]>> = {
  vitest: [3, 4, 5],
  playwright: [1],
  jest: [29, 30],
}

export const ROWS: readonly Row[] = [...VITEST_PROJECTS, ...PLAYWRIGHT_PROJECTS, ...JEST_PROJECTS].flatMap((project) =>
  (project.arguments ?? [[]]).flatMap((args) =>
    VERSIONS[project.framework].map((version) => ({ project, args, version })),
  ),
)

/** What a person types to run it, and the name of the project. */
export function nameOf({ project: { framework, name }, args, version }: Row): string {
  const typed = args.map((arg) => (/^[\w./=:@%^-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`))
  return `${framework} ${version}: ${[...COMMANDS[framework], ...typed].join(' ')} (${name})`
}

/** By hand, a command with some arguments never ends. All others take a few seconds. */
const LIMIT_MS = 60_000

/** Runs a row by hand and through the service. Every run has a new folder, so that none sees what an earlier one has changed. */
export async function runRow({ project, args, version }: Row, stop: AbortSignal): Promise<Result> {
  await using temporary = await temporaryFolder()
  let count = 0
  const folder = async () => {
    const at = join(realpathSync(temporary.path), `run-${++count}`, 'project')
    mkdirSync(at, { recursive: true })
    await writeProject(project, at, version)
    return at
  }
  // Without other reporters, the run that writes the report is the run of the plain command.
  const namesReporter = /reporter|outputFile/i.test(JSON.stringify([project.files, args]))
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...project.env }
  return await runBoth(
    { framework: project.framework, args, env, folder, limitMs: LIMIT_MS, isOnce: !namesReporter },
    stop,
  )
}

/** The service refuses these arguments, although a command with them exits with 0. local-service/README.md has the reasons. */
const REFUSED: Readonly<Record<Framework, readonly string[]>> = {
  vitest: ['--help', 'related cart.test.js'],
  playwright: ['--list', 'test'],
  jest: ['--help', '--clearCache', '--selectProjects unit'],
}

function isKnown({ project, args }: Row, differences: readonly string[]): boolean {
  const isRefused = REFUSED[project.framework].includes(args.join(' '))
  return isRefused && differences.every((difference) => difference.includes('but the service refuses it'))
}

/** Runs the rows whose name contains the filter, and prints a line for each. Returns whether there is a difference that is not known. */
export async function runTable(filter: string, print: (line: string) => void, stop: AbortSignal): Promise<boolean> {
  const rows = ROWS.filter((row) => nameOf(row).includes(filter))
  const waiting = [...rows]
  const signs: string[] = []
  const work = async () => {
    for (let row = waiting.shift(); row !== undefined && !stop.aborted; row = waiting.shift()) {
      const differences = await runRow(row, stop).then(
        ({ comparison }) => comparison.differences,
        (error) => [`The row could not be run: ${error}`],
      )
      const isSame = differences.length === 0
      signs.push(isSame ? 'same' : isKnown(row, differences) ? 'known' : 'DIFFERENT')
      const line = `${signs.length}/${rows.length} ${signs.at(-1)} ${nameOf(row)}`
      print([line, ...differences.map((text) => `    ${text}`)].join('\n'))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  stop.throwIfAborted()
  const count = (sign: string) => signs.filter((one) => one === sign).length
  print(`${rows.length} rows: ${count('same')} are the same, ${count('known')} have a known difference.`)
  return count('DIFFERENT') > 0
}
