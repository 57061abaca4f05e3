import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { PLAIN_ENV, startService, temporaryFolder } from '../support/a-local-service.ts'

// Compares commands of other test tools by hand with runs through the service. The workflow "Nightly" installs the tools. Their
// folder is in the variable JUNIT_TOOLS. Without it, the tests are skipped.

const { JUNIT_TOOLS: tools = '' } = process.env

type Files = Readonly<Record<string, string>>

interface Tool {
  readonly command: readonly string[]
  readonly report: string
  readonly env?: Readonly<Record<string, string>>
  readonly everyKind: { readonly files: Files; readonly cases: readonly string[] }
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
    everyKind: {
      files: {
        'kinds.test.js': `
          jest.retryTimes(1)
          let tries = 0
          describe('cart', () => {
            test('adds', () => {})
            test('fails', () => { expect(1).toBe(2) })
            test.skip('is skipped', () => {})
            test('is flaky', () => { if (++tries < 2) throw new Error('first') })
            test('is slow', () => new Promise(() => {}), 50)
          })
          describe('hooks', () => { beforeAll(() => { throw new Error('no database') }); test('never runs', () => {}) })`,
      },
      cases: [
        'PASSED cart > adds kinds.test.js',
        'FAILED cart > fails kinds.test.js:6',
        'SKIPPED cart > is skipped kinds.test.js',
        'PASSED cart > is flaky kinds.test.js',
        'FAILED cart > is slow kinds.test.js:9',
        'FAILED hooks > never runs kinds.test.js:11',
      ],
    },
  },
  mocha: {
    command: ['mocha', '--reporter=mocha-junit-reporter', '*.test.js'],
    report: 'test-results.xml',
    file: 'a.test.js',
    testThat: jsTests('it'),
    brokenFile: ['broken.test.js', BROKEN_JS],
    withoutTests: [1, 'FAILED', 'No test files found'],
    everyKind: {
      files: {
        'kinds.test.js': `
          let tries = 0
          describe('cart', () => {
            it('adds', () => {})
            it('fails', () => { throw new Error('no money') })
            it.skip('is skipped', () => {})
            it('is flaky', function () { this.retries(1); if (++tries < 2) throw new Error('first') })
            it('is slow', function (done) { this.timeout(50) })
          })
          describe('hooks', () => { before(() => { throw new Error('no database') }); it('never runs', () => {}) })`,
      },
      // mocha-junit-reporter leaves out what was skipped.
      cases: [
        'PASSED cart adds kinds.test.js',
        'FAILED cart fails kinds.test.js:5',
        'PASSED cart is flaky kinds.test.js',
        'FAILED cart is slow kinds.test.js',
        'FAILED hooks "before all" hook for "never runs" kinds.test.js:10',
      ],
    },
  },
  pytest: {
    command: ['/usr/bin/python3', '-m', 'pytest', '--junit-xml=junit.xml', '--override-ini=junit_family=xunit1'],
    report: 'junit.xml',
    file: 'test_a.py',
    testThat: {
      passes: 'def test_a(): pass',
      'is killed': 'import os, signal\ndef test_a(): os.kill(os.getpid(), signal.SIGKILL)',
      'never ends': 'def test_a():\n    while True: pass',
    },
    brokenFile: ['test_broken.py', 'import nothing_here'],
    withoutTests: [5, 'FAILED', 'no tests ran'],
    everyKind: {
      files: {
        'tests/test_kinds.py': `
import pytest
class TestCart:
    def test_adds(self): pass
    def test_fails(self): assert 1 == 2
    @pytest.mark.skip
    def test_skipped(self): pass
    @pytest.mark.xfail
    def test_to_fix(self): assert False
@pytest.fixture
def database(): raise RuntimeError('no database')
def test_never_runs(database): pass
@pytest.fixture
def room():
    yield
    raise RuntimeError('no room')
def test_is_fine(room): pass`,
      },
      cases: [
        'PASSED TestCart > test_adds tests/test_kinds.py',
        'FAILED TestCart > test_fails tests/test_kinds.py:5',
        'SKIPPED TestCart > test_skipped tests/test_kinds.py',
        'SKIPPED TestCart > test_to_fix tests/test_kinds.py',
        'FAILED test_never_runs tests/test_kinds.py:11',
        'FAILED test_is_fine tests/test_kinds.py:16',
      ],
    },
  },
}

describe.skipIf(tools === '').each(Object.entries(TOOLS))('%s', (name, tool) => {
  /** Runs the files with the command itself, and through the service, each in a new folder. */
  async function runBoth(files: Files, { limitMs = 60_000 } = {}) {
    const env = { ...PLAIN_ENV, ...tool.env, PATH: [join(tools, 'node_modules/.bin'), PLAIN_ENV.PATH].join(delimiter) }
    const projectIn = async () => {
      const folder = await temporaryFolder()
      await writeFiles(folder, { 'package.json': '{}', ...files })
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
    const cases = results?.testCases.map(({ filePath, line, ...one }) => {
      // The line of a test that did not fail is the one from the report, which pytest counts from 0.
      const place = one.status === 'FAILED' && line !== undefined ? `${filePath}:${line}` : filePath
      return [one.status, one.title, place].filter((part) => part !== undefined).join(' ')
    })
    return { exit: byHand.status ?? byHand.signal, status, message, cases }
  }

  it('has every kind of result', async () => {
    const { exit, status, cases } = await runBoth(tool.everyKind.files)
    expect([exit === 0, status]).toEqual([false, 'FAILED'])
    expect(cases?.toSorted()).toEqual(tool.everyKind.cases.toSorted())
  })

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
