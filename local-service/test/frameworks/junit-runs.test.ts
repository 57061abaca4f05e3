import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { folderWith, isAlive, PLAIN_ENV, pidsIn, startService, until } from '../support/a-local-service.ts'

// The command is Node's own test runner, or a script.

const NODE_TEST = [
  ...['node', '--test', '--test-reporter=spec', '--test-reporter-destination=stdout'],
  ...['--test-reporter=junit', '--test-reporter-destination=junit.xml'],
]

/** A service for a folder with these files. */
async function startWith(
  files: Readonly<Record<string, string>>,
  command: string | readonly string[] = NODE_TEST,
  report = 'junit.xml',
) {
  const folder = await folderWith(files)
  return startService({ projects: { shop: { folder, command, report } } })
}

const PASSES = '<testsuite name="s"><testcase name="a" classname="c"/></testsuite>'

describe("a run with Node's test runner", () => {
  // junit-reports/node has every kind of result, and what Node prints about it.
  it('has the true cases, with their reasons and places, and names what is in no report', async () => {
    const service = await startWith({
      'kinds.test.mjs': `import { describe, it, test } from 'node:test'
        describe('cart', () => {
          it('adds', () => {})
          it('fails', () => { throw new Error('no <money> &') })
        })
        test('hangs', { timeout: 20 }, () => new Promise(() => {}))`,
      'broken.test.mjs': "throw new Error('cannot be loaded')",
    })
    const run = await service.run()
    expect(run.status).toBe('FAILED')
    expect(run.message).toMatch(
      /^`node .*` reported an error outside the tests: Error: cannot be loaded\n {4}at file:.*\/broken\.test\.mjs:1:7\n/,
    )
    expect(run.message).toContain("✖ hangs: 'test timed out after 20ms'\ntest at kinds.test.mjs:6:9")
    const cases = run.results?.testCases.map(({ title, durationMs: _, ...others }) => [title, others] as const) ?? []
    const [status, filePath] = ['FAILED', 'kinds.test.mjs']
    const message = expect.stringMatching(/^Error \[ERR_TEST_FAILURE\]: no <money> &\n/)
    expect(Object.fromEntries(cases)).toEqual({
      'cart > adds': { status: 'PASSED', filePath },
      'cart > fails': { status, message, filePath, line: 4 },
      hangs: { status, message: expect.stringContaining('timed out after 20ms'), filePath },
      'broken.test.mjs': { status, message: expect.stringContaining('test failed'), filePath: 'broken.test.mjs' },
    })
  })

  it('has the places in its own repository, also if a git hook of another one has started the service', async () => {
    const filePath = 'src/test/java/shop/CartTest.java'
    const { folder } = await aRepository({ [filePath]: '' })
    const other = await aRepository({ 'a.txt': '' })
    vi.stubEnv('GIT_DIR', join(other.folder, '.git'))
    vi.stubEnv('GIT_WORK_TREE', other.folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const report = '<testsuite name="s"><testcase name="adds" classname="shop.CartTest"/></testsuite>'
    const project = { folder, command: `echo '${report}' > junit.xml`, report: 'junit.xml' }
    const service = await startService({ projects: { shop: project }, env: { ...PLAIN_ENV, ...process.env } })
    expect((await service.run()).results?.testCases).toMatchObject([{ filePath }])
  })
})

describe('a command that is a script', () => {
  // local-service/test/execution/outcome.test.ts has each end of a command beside each kind of report.
  it('is told as one, and what it leaves in the background ends with it', async () => {
    const command = `# don't stop\r\nsleep 600 & echo $! > pid\r\ncp kept.xml junit.xml; cat\r\nfalse | tee log`
    const folder = await folderWith({ 'kept.xml': PASSES })
    const service = await startService({ projects: { shop: { folder, command, report: 'junit.xml' } } })
    const run = await service.waitFor(await service.startRun())
    expect([run.status, run.results?.testCases.map(({ title }) => title)]).toEqual(['FAILED', ['c > a']])
    expect(run.message).toBe(
      "`# don't stop sleep 600 & echo $! > pid cp kept.xml junit.xml; cat false | tee log` exited with code 1, although no test failed",
    )
    expect((await pidsIn(join(folder, 'pid'))).map(isAlive)).toEqual([false])
  })
})

describe('a run that is cancelled', () => {
  const filePath = 'src/test/java/shop/CartTest.java'
  const cancelledRun = async (files: Record<string, string> = {}) => {
    const report = '<testsuite name="s"><testcase name="adds" classname="shop.CartTest"/></testsuite>'
    const { folder } = await aRepository({ ...files, [filePath]: '', 'kept.xml': report })
    const command = 'cp kept.xml junit.xml; echo written; sleep 600'
    const service = await startService({ projects: { shop: { folder, command, report: 'junit.xml' } } })
    const runId = await service.startRun()
    await until(async () => (await service.outputOf(runId)).includes('written'), 'the report is written')
    await service.cancel(runId)
    return service.waitFor(runId)
  }

  it('has the places of the tests that it ran', async () => {
    const { status, results } = await cancelledRun()
    expect([status, results?.testCases]).toMatchObject(['CANCELLED', [{ title: 'shop.CartTest > adds', filePath }]])
  })

  it('waits 5 s for git at most, because the client waits, and then looks for all files', async () => {
    const limitsMs: number[] = []
    // The second limit of 5 s is that of the reading.
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const isOfGit = ms === 5000 && !limitsMs.includes(ms)
      limitsMs.push(ms)
      return isOfGit ? AbortSignal.abort() : new AbortController().signal
    })
    onTestFinished(() => timeout.mockRestore())
    // git would not list the file.
    const { status, results } = await cancelledRun({ '.gitignore': 'src' })
    expect([status, results?.testCases]).toMatchObject(['CANCELLED', [{ filePath }]])
  })
})

describe('a command with several reports', () => {
  it('says in its output which pattern has no file, and passes', async () => {
    const service = await startWith({ 'kept.xml': PASSES }, 'cp kept.xml unit.xml', 'unit.xml\ne2e/*.xml')
    const runId = await service.startRun()
    expect((await service.waitFor(runId)).status).toBe('PASSED')
    const remark = '[local service] no file in the project\'s folder matches "e2e/*.xml"\n'
    expect(await service.outputOf(runId)).toContain(remark)
  })
})

describe('what a command cannot do', () => {
  const settings = (project: object, suites: object = {}) => ({
    projects: { shop: { folder: '.', ...project } },
    suites,
  })
  const given = { command: ['npx', 'mocha'], report: 'junit.xml' }

  it('is to select tests, in a request and in a suite', async () => {
    const service = await startWith({})
    const sentence = 'runs a command of its own, so nothing can select tests. Leave out "unit".'
    expect(await service.start({ frameworkProjectName: 'unit' })).toEqual({
      status: 400,
      body: { error: `Project "shop" ${sentence}` },
    })
    for (const selection of [{ frameworkProjects: ['unit'] }, { files: ['unit'] }]) {
      const suites = { smoke: { project: 'shop', ...selection } }
      expect(() => readConfiguration(settings(given, suites), '/')).toThrow(`Suite "smoke": Project "shop" ${sentence}`)
    }
  })

  it.each([
    [{ ...given, report: '' }, '"report" is empty.'],
    [{ ...given, report: ' \n' }, '"report" is empty.'],
    [{ ...given, report: '/tmp/a.xml' }, '"report" is "/tmp/a.xml". Give a path from the project\'s folder.'],
    [{ ...given, report: 'a.xml\n/tmp/a.xml' }, '"report" is "/tmp/a.xml". Give a path from the project\'s folder.'],
    [
      { ...given, args: ['--bail'] },
      '"args" has "--bail", but "command" is the whole command. Write the arguments there.',
    ],
    [
      { ...given, framework: 'vitest' },
      'has both "report" and "framework". Leave "framework" out to read JUnit files, or leave "report" out.',
    ],
  ])('%j is refused', (project, sentence) => {
    expect(() => readConfiguration(settings(project), '/')).toThrow(sentence)
  })
})
