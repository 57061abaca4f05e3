import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../test/documents/documents.ts'
import { PLAIN_ENV, startService, temporaryFolder } from '../support/a-local-service.ts'

// Runs the lines of the page for other test tools as they stand, with the projects of the recordings. The workflow "Nightly" installs
// the tools, some of them in tools/junit-tools. Without the variable JUNIT_TOOLS, the tests are skipped.

const REPORTS = join(import.meta.dirname, 'junit-reports')
/** The other folders there are of tools that the workflow does not install, or of older versions. */
const OF_THE_WORKFLOW =
  'bun catch2 ctest ctest-none cucumber deno dotnet go go-flaky googletest googletest-disabled gradle jest maven mocha nextest node phpunit phpunit-risky pytest pytest-broken rspec rspec-broken'

/** Of several runs of a project, the one with the newest version. By default, it is the first. */
const NEWEST: Readonly<Record<string, number>> = { node: 1 }

interface Recorded {
  /** The row of the page's table that has the command. */
  readonly row?: string
  readonly command?: readonly string[]
  readonly build?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly report: string
  readonly exitCode: number
}

/** The command and the report of each row of the page's table. */
const ROWS = new Map(
  readFileSync(join(ROOT, 'local-service/README.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, row, command, report] = /^\| (?!tool)([^|]+) \| `([^`]+)` \| `([^`]+)` \|/.exec(line) ?? []
      return row === undefined ? [] : [[row, { command, report }] as const]
    }),
)

function runOf(name: string): Recorded & { readonly settings: object } {
  const runs: Recorded[] = JSON.parse(readFileSync(join(REPORTS, name, 'runs.json'), 'utf8'))
  const run = runs[NEWEST[name] ?? 0] as Recorded
  const { row, command, report } = run
  return { ...run, settings: row === undefined ? { command, report } : { ...ROWS.get(row) } }
}

it.each(OF_THE_WORKFLOW.split(' '))('the project %s has a command', (name) => {
  expect(runOf(name).settings).toEqual({ command: expect.anything(), report: expect.any(String) })
})

it('runs every row of the table', () => {
  const rows = OF_THE_WORKFLOW.split(' ').map((name) => runOf(name).row)
  expect([...ROWS.keys()].filter((row) => !rows.includes(row))).toEqual([])
})

describe.skipIf(process.env.JUNIT_TOOLS === undefined).each(OF_THE_WORKFLOW.split(' '))('the project %s', (name) => {
  const [recorded = ''] = readFileSync(join(REPORTS, name, 'cases.txt'), 'utf8')
    .split('\n\n')
    .slice(NEWEST[name] ?? 0)

  it('has the cases of its recording', async () => {
    const { settings, build, env = {}, exitCode } = runOf(name)
    const folder = temporaryFolder()
    const isOfProject = (path: string) =>
      !/\.xml$|\.out\.txt$|cases\.txt$|runs\.json$/.test(path) || /^(?:pom|phpunit)\.xml$/.test(basename(path))
    cpSync(join(REPORTS, name), folder, { recursive: true, filter: isOfProject })
    await symlink(join(ROOT, 'tools/junit-tools/node_modules'), join(folder, 'node_modules'))
    await linkPrograms(folder)
    const tries = join(temporaryFolder(), 'tries')
    const variables = { ...PLAIN_ENV, ...env, ...(env.TRIES === undefined ? {} : { TRIES: tries }) }
    const [program = '', ...args] = build ?? ['true']
    expect(spawnSync(program, args, { cwd: folder, env: variables }).status).toBe(0)
    const PATH = `${join(folder, 'bin')}:${PLAIN_ENV.PATH}`
    const service = await startService({ projects: { [name]: { folder, ...settings } }, env: { ...variables, PATH } })
    const { status, message, results } = await service.waitFor(await service.startRun())
    expect(status, message).toBe(exitCode === 0 ? 'PASSED' : 'FAILED')
    const cases = results?.testCases.map((one) => `${one.status} ${one.title}`).toSorted()
    const lines = recorded.split('\n').filter((line) => /^[A-Z]+ /.test(line))
    expect(cases).toEqual(lines.map((line) => line.split(' | ')[0]).toSorted())
  })
})

/** Where the lines of the page find the programs of the system. Another Python may come first in the PATH. */
async function linkPrograms(folder: string): Promise<void> {
  const links = {
    'bin/python': '/usr/bin/python3',
    'vendor/bin/phpunit': '/usr/bin/phpunit',
    gradlew: '/usr/bin/gradle',
  }
  for (const [path, program] of Object.entries(links)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    if (existsSync(program)) await symlink(program, join(folder, path))
  }
}
