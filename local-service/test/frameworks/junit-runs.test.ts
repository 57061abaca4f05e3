import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'
import {
  folderWith,
  isAlive,
  PLAIN_ENV,
  pidsIn,
  startService,
  temporaryFolder,
  until,
} from '../support/a-local-service.ts'

// The command is Node's own test runner, or a script.

const PASSES = '<testsuite name="s"><testcase name="adds" classname="shop.CartTest"/></testsuite>'

/** A service for a folder with these files. */
const startIn = (folder: string, command: string, report = 'junit.xml', env: NodeJS.ProcessEnv = {}) =>
  startService({ projects: { shop: { folder, command, report } }, env: { ...process.env, ...PLAIN_ENV, ...env } })

describe('a run of a command', () => {
  // local-service/test/execution/outcome.test.ts has each end of a command beside each kind of report.
  it('is told as one script, and what it leaves in the background ends with it', async () => {
    const command = `# don't stop\r\nsleep 600 & echo $! > pid\r\ncp kept.xml junit.xml; cat\r\nfalse | tee log`
    const folder = await folderWith({ 'kept.xml': PASSES })
    const run = await (await startIn(folder, command)).run()
    expect([run.status, run.results?.testCases]).toMatchObject(['FAILED', [{ title: 'shop.CartTest > adds' }]])
    expect(run.message).toBe(
      "`# don't stop sleep 600 & echo $! > pid cp kept.xml junit.xml; cat false | tee log` exited with code 1, although no test failed.",
    )
    expect((await pidsIn(join(folder, 'pid'))).map(isAlive)).toEqual([false])
  })

  it('says in its output which pattern has no file, and passes', async () => {
    const folder = await folderWith({ 'kept.xml': PASSES })
    const service = await startIn(folder, 'cp kept.xml unit.xml', 'unit.xml\ne2e/*.xml')
    const runId = await service.startRun()
    expect((await service.waitFor(runId)).status).toBe('PASSED')
    const remark = '[local service] No file in the project\'s folder matches "e2e/*.xml".\n'
    expect(await service.outputOf(runId)).toContain(remark)
  })
})

describe('a run that is cancelled', () => {
  const filePath = 'src/test/java/shop/CartTest.java'
  const cancelledRun = async (files: Record<string, string> = {}, PATH = PLAIN_ENV.PATH) => {
    const { folder } = await aRepository({ ...files, [filePath]: '', 'kept.xml': PASSES })
    const script = 'cp kept.xml junit.xml; echo $$ > pid; echo written; exec sleep 600'
    const service = await startIn(folder, script, 'junit.xml', { PATH })
    const runId = await service.startRun()
    await until(async () => (await service.outputOf(runId)).includes('written'), 'the report is written')
    await service.cancel(runId)
    return service.waitFor(runId)
  }

  it('has the places of the tests that it ran', async () => {
    // git does not list the other file of this name.
    const { status, results } = await cancelledRun({ '.gitignore': 'build', [`build/${filePath}`]: '' })
    expect([status, results?.testCases]).toMatchObject(['CANCELLED', [{ title: 'shop.CartTest > adds', filePath }]])
  })

  it('has them although git is slower than the end of the processes of the run', async () => {
    const bin = temporaryFolder()
    // The pause is longer than the service needs to kill what it finds then.
    const slow = 'case "$*" in *ls-files*) while kill -0 "$(cat pid)" 2>&-; do sleep 0.05; done; sleep 0.5 ;; esac'
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n${slow}\nPATH=\${PATH#*:} exec git "$@"\n`, { mode: 0o755 })
    const files = { '.gitignore': 'build', [`build/${filePath}`]: '' }
    const { results } = await cancelledRun(files, `${bin}:${PLAIN_ENV.PATH}`)
    expect(results?.testCases).toMatchObject([{ title: 'shop.CartTest > adds', filePath }])
  })

  it('waits 5 s for git at most, because the client waits, and then looks for all files', async () => {
    // The second limit of 5 s is that of the reading.
    let limits = 0
    const isOver = (ms: number) => (ms <= 5000 && limits++ === 0 ? AbortSignal.abort() : new AbortController().signal)
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(isOver)
    onTestFinished(() => timeout.mockRestore())
    // git would not list the file.
    const { status, results } = await cancelledRun({ '.gitignore': 'src' })
    expect([status, results?.testCases]).toMatchObject(['CANCELLED', [{ filePath }]])
  })
})

it('a run that is cancelled while git lists the files ends this git, which has the marker of the run', async () => {
  const git = `#!/bin/sh
case "$*" in *ls-files*) ;; *) exit 1 ;; esac
# The client that cancels the run waits for a second one.
[ ! -e asked ] || exit 1
echo "$$ $LOCAL_SERVICE_RUN_ID" > new && mv new asked
exec sleep 600`
  const folder = await folderWith({ 'kept.xml': PASSES })
  const bin = temporaryFolder()
  writeFileSync(join(bin, 'git'), git, { mode: 0o755 })
  // Only the cancel may end it.
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal)
  onTestFinished(() => timeout.mockRestore())
  const service = await startIn(folder, 'cp kept.xml junit.xml', 'junit.xml', { PATH: `${bin}:${PLAIN_ENV.PATH}` })
  const runId = await service.startRun()
  await until(() => existsSync(join(folder, 'asked')), 'git is asked')
  const [pid, marker] = readFileSync(join(folder, 'asked'), 'utf8').trim().split(' ')
  expect(marker).toBe(runId)
  await service.cancel(runId)
  await until(() => !isAlive(Number(pid)), 'git is ended')
  const { status, results } = await service.waitFor(runId)
  expect([status, results?.testCases]).toMatchObject(['CANCELLED', [{ title: 'shop.CartTest > adds' }]])
})

describe('what a command cannot do', () => {
  const given = { folder: '.', command: ['npx', 'mocha'], report: 'junit.xml' }

  it('is to select tests, in a request and in a suite', async () => {
    const service = await startIn(await folderWith({}), 'true')
    const sentence =
      'runs a command of its own, so nothing can select tests. Leave out the gate\'s input framework-project, or the selection of the suite: "unit".'
    expect(await service.start({ frameworkProjectName: 'unit' })).toEqual({
      status: 400,
      body: { error: `Project "shop" ${sentence}` },
    })
    for (const selection of [{ frameworkProjects: ['unit'] }, { files: ['unit'] }]) {
      const suites = { smoke: { project: 'shop', ...selection } }
      expect(() => readConfiguration({ projects: { shop: given }, suites }, '/')).toThrow(
        `Suite "smoke": Project "shop" ${sentence}`,
      )
    }
  })

  it.each([
    [{ ...given, report: ' \n' }, '"report" is empty.'],
    [{ ...given, merge: 'all' }, 'To merge JUnit files, give "report" without "command".'],
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
    expect(() => readConfiguration({ projects: { shop: project } }, '/')).toThrow(sentence)
  })
})
