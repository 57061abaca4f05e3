import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PLAIN_ENV, startService, temporaryFolder } from '../support/a-local-service.ts'

// Compares commands of other test tools by hand with runs through the service. The workflow "Nightly" installs the tools. Their
// folder is in the variable JUNIT_TOOLS. Without it, the tests are skipped.

const { JUNIT_TOOLS: tools = '' } = process.env

const REPORTS = join(import.meta.dirname, 'junit-reports')
/** The other folders there are of tools that the workflow does not install, or of older versions. */
const OF_THE_WORKFLOW =
  'ctest ctest-none go go-flaky googletest googletest-disabled jest maven mocha node phpunit phpunit-risky pytest pytest-broken rspec rspec-broken'

/** Of several runs of a project, the one with the newest version. By default, it is the first. */
const NEWEST: Readonly<Record<string, number>> = { node: 1 }

interface Recorded {
  readonly command: readonly string[]
  readonly build?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly report: string
  readonly exitCode: number
}

describe.skipIf(tools === '').each(OF_THE_WORKFLOW.split(' '))('the project %s', (name) => {
  const runs: Recorded[] = JSON.parse(readFileSync(join(REPORTS, name, 'runs.json'), 'utf8'))
  const [recorded = ''] = readFileSync(join(REPORTS, name, 'cases.txt'), 'utf8')
    .split('\n\n')
    .slice(NEWEST[name] ?? 0)

  it('has the cases of its recording', async () => {
    const { command, build, env = {}, report, exitCode } = runs[NEWEST[name] ?? 0] as Recorded
    const folder = temporaryFolder()
    const isOfProject = (path: string) =>
      !/\.xml$|\.out\.txt$|cases\.txt$|runs\.json$/.test(path) || path.endsWith('pom.xml')
    cpSync(join(REPORTS, name), folder, { recursive: true, filter: isOfProject })
    if (existsSync(join(tools, 'node_modules')))
      await symlink(join(tools, 'node_modules'), join(folder, 'node_modules'))
    const tries = join(temporaryFolder(), 'tries')
    const variables = { ...PLAIN_ENV, ...env, ...(env.TRIES === undefined ? {} : { TRIES: tries }) }
    const [program = '', ...args] = build ?? ['true']
    expect(spawnSync(program, args, { cwd: folder, env: variables }).status).toBe(0)
    // Another python3 may come first in the PATH.
    const installed = command.map((one) => (one === 'python3' ? '/usr/bin/python3' : one))
    const project = { folder, command: installed, report }
    const service = await startService({ projects: { [name]: project }, env: variables })
    const { status, results } = await service.waitFor(await service.startRun())
    expect(status).toBe(exitCode === 0 ? 'PASSED' : 'FAILED')
    const cases = results?.testCases.map((one) => `${one.status} ${one.title}`).toSorted()
    const lines = recorded.split('\n').filter((line) => /^[A-Z]+ /.test(line))
    expect(cases).toEqual(lines.map((line) => line.split(' | ')[0]).toSorted())
  })
})
