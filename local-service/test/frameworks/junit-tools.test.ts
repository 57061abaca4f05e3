import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
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
    const folder = await temporaryFolder()
    const isOfProject = (path: string) =>
      !/\.xml$|\.out\.txt$|cases\.txt$|runs\.json$/.test(path) || path.endsWith('pom.xml')
    cpSync(join(REPORTS, name), folder, { recursive: true, filter: isOfProject })
    if (existsSync(join(tools, 'node_modules')))
      await symlink(join(tools, 'node_modules'), join(folder, 'node_modules'))
    const tries = join(await temporaryFolder(), 'tries')
    const variables = { ...PLAIN_ENV, ...env, ...(env.TRIES === undefined ? {} : { TRIES: tries }) }
    const [program = '', ...args] = build ?? ['true']
    expect(spawnSync(program, args, { cwd: folder, env: variables }).status).toBe(0)
    // Another python3 may come first in the PATH.
    const installed = command.map((one) => (one === 'python3' ? '/usr/bin/python3' : one))
    const project = { folder, framework: 'junit', command: installed, report }
    const service = await startService({ projects: { [name]: project } }, { env: variables })
    const { status, results } = await service.waitFor(await service.startRun())
    expect(status).toBe(exitCode === 0 ? 'PASSED' : 'FAILED')
    const cases = results?.testCases.map((one) => `${one.status} ${one.title}`).toSorted()
    const lines = recorded.split('\n').filter((line) => /^[A-Z]+ /.test(line))
    expect(cases).toEqual(lines.map((line) => line.split(' | ')[0]).toSorted())
  })
})

type Files = Readonly<Record<string, string>>

interface Tool {
  readonly command: readonly string[]
  readonly report: string
  readonly env?: Readonly<Record<string, string>>
  readonly file: string
  /** A test file whose only test does this. */
  readonly testThat: Readonly<Record<'passes' | 'is killed' | 'never ends', string>>
  readonly brokenFile: readonly [string, string]
  /** The exit code by hand, the status of the run, and what its message contains. */
  readonly withoutTests: readonly [number, string, string]
}

const jsTests = (body: string) => ({
  passes: `${body}('a', () => {})`,
  'is killed': `${body}('a', () => process.kill(process.pid, 'SIGKILL'))`,
  'never ends': `${body}('a', () => { for (;;); })`,
})
const BROKEN_JS = "throw new Error('cannot be loaded')"

const TOOLS: Readonly<Record<string, Tool>> = {
  jest: {
    command: ['jest', '--ci', '--runInBand', '--reporters=default', '--reporters=jest-junit'],
    report: 'junit.xml',
    env: { JEST_JUNIT_CLASSNAME: '{classname}', JEST_JUNIT_TITLE: '{title}', JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true' },
    file: 'a.test.js',
    testThat: jsTests('test'),
    brokenFile: ['broken.test.js', BROKEN_JS],
    withoutTests: [1, 'FAILED', 'No tests found'],
  },
  mocha: {
    command: ['mocha', '--reporter=mocha-multi-reporters', '--reporter-option=configFile=reporters.json', '*.test.js'],
    report: 'xunit.xml',
    file: 'a.test.js',
    testThat: jsTests('it'),
    brokenFile: ['broken.test.js', BROKEN_JS],
    withoutTests: [1, 'FAILED', 'No test files found'],
  },
  pytest: {
    command: ['/usr/bin/python3', '-m', 'pytest', '--junit-xml=junit.xml'],
    report: 'junit.xml',
    file: 'test_a.py',
    testThat: {
      passes: 'def test_a(): pass',
      'is killed': 'import os, signal\ndef test_a(): os.kill(os.getpid(), signal.SIGKILL)',
      'never ends': 'def test_a():\n    while True: pass',
    },
    brokenFile: ['test_broken.py', 'import nothing_here'],
    withoutTests: [5, 'FAILED', 'no tests ran'],
  },
}

describe.skipIf(tools === '').each(Object.entries(TOOLS))('%s', (name, tool) => {
  /** Runs the files with the command itself, and through the service, each in a new folder. */
  async function runBoth(files: Files, { limitMs = 60_000 } = {}) {
    const env = { ...PLAIN_ENV, ...tool.env, PATH: [join(tools, 'node_modules/.bin'), PLAIN_ENV.PATH].join(delimiter) }
    const projectIn = async () => {
      const folder = await temporaryFolder()
      const reporters = readFileSync(join(REPORTS, 'mocha/reporters.json'), 'utf8')
      await writeFiles(folder, { 'package.json': '{}', 'reporters.json': reporters, ...files })
      if (existsSync(join(tools, 'node_modules')))
        await symlink(join(tools, 'node_modules'), join(folder, 'node_modules'))
      return folder
    }
    const [program = '', ...args] = tool.command
    const cwd = await projectIn()
    const byHand = spawnSync(program, args, {
      cwd,
      env: { ...env, CI: 'true' },
      timeout: limitMs,
      killSignal: 'SIGKILL',
    })
    const project = { folder: await projectIn(), framework: 'junit', command: tool.command, report: tool.report }
    const service = await startService({ projects: { [name]: project } }, { env, runLimitMinutes: limitMs / 60_000 })
    const { status, message = '', results } = await service.waitFor(await service.startRun())
    const cases = results?.testCases.map((one) => `${one.status} ${one.title}`)
    return { exit: byHand.status ?? byHand.signal, status, message, cases }
  }

  it('passes', async () => {
    const { exit, status, message } = await runBoth({ [tool.file]: tool.testThat.passes })
    expect([exit, status, message]).toEqual([0, 'PASSED', ''])
  })

  it('says the reason of a file that cannot be loaded', async () => {
    const [file, text] = tool.brokenFile
    const { exit, status, message, cases } = await runBoth({ [tool.file]: tool.testThat.passes, [file]: text })
    expect([exit === 0, status]).toEqual([false, 'FAILED'])
    expect(`${message} ${cases}`).toContain('broken')
  })

  it('says that there are no tests', async () => {
    const { exit, status, message } = await runBoth({})
    expect([exit, status, message]).toEqual([
      ...tool.withoutTests.slice(0, 2),
      expect.stringContaining(tool.withoutTests[2]),
    ])
  })

  it('is interrupted if its process is killed', async () => {
    const { exit, status, message } = await runBoth({ [tool.file]: tool.testThat['is killed'] })
    expect(exit).not.toBe(0)
    expect(status).toBe('INTERRUPTED')
    expect(message).toMatch(/was killed by SIGKILL$|wrote no report/)
  })

  it('is stopped at the limit of the run if a test never ends', async () => {
    const { exit, status } = await runBoth({ [tool.file]: tool.testThat['never ends'] }, { limitMs: 5000 })
    expect([exit, status]).toEqual(['SIGKILL', 'TIMEDOUT'])
  })
})
