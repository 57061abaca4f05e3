import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createStepFile, findStepFiles, mainOf } from '../../src/github/step-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const STEP = {
  GITHUB_REPOSITORY: 'shop/shop',
  GITHUB_RUN_ID: '7',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_JOB: 'test',
  'INPUT_CHECK-RUN-ID': '11',
  RUNNER_NAME: 'runner-1',
  'INPUT_BASE-URL': 'https://tests.example.com',
  INPUT_PROJECT: 'web-shop',
  'INPUT_API-KEY': 'sk-live-0123456789',
}

function aFile(env: Readonly<Record<string, string>>) {
  const file = createStepFile(env)
  if (file === undefined) throw new Error('no file')
  onTestFinished(() => file.remove())
  return file
}

describe('the file', () => {
  it('is readable by its owner alone, and holds no key', () => {
    const env = { ...STEP, RUNNER_TEMP: temporaryFolder() }
    const file = aFile(env)
    file.update({ phase: 'started', runId: 'r-1', mayCancel: true })
    const [path = ''] = findStepFiles(env, file.name)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(path + readFileSync(path, 'utf8')).not.toMatch(/sk-live|example\.com|web-shop/)
  })

  it('counts by its newest version that is whole', () => {
    const env = { ...STEP, RUNNER_TEMP: temporaryFolder() }
    const file = aFile(env)
    const [path = ''] = findStepFiles(env, file.name)
    file.update({ phase: 'starting' })
    appendFileSync(path, '\n{"pid":1,"phase":"started","runId":"cut o')
    expect(mainOf(path).read()).toMatchObject({ phase: 'starting' })
    file.update({ phase: 'started', runId: 'r-1' })
    appendFileSync(path, 'null\n5\n[]\n{}\n{"phase":"done"}\n')
    expect(mainOf(path).read()).toMatchObject({ phase: 'started', runId: 'r-1' })
  })

  it('that is removed is nothing to read, and no update makes it again', () => {
    const env = { ...STEP, RUNNER_TEMP: temporaryFolder() }
    const file = aFile(env)
    const [path = ''] = findStepFiles(env, file.name)
    rmSync(path)
    expect(file.update({ phase: 'starting' })).toBe(false)
    expect(findStepFiles(env, file.name)).toEqual([])
    expect(mainOf(path).read()).toBeUndefined()
  })
})

describe('a post whose state is lost', () => {
  it('finds the files of its own step, in the runner’s folder and in the system’s', () => {
    const env = { ...STEP, GITHUB_RUN_ID: `7-${process.pid}`, RUNNER_TEMP: temporaryFolder() }
    const inRunner = aFile(env)
    expect(findStepFiles(env).map((path) => path.includes(inRunner.name))).toEqual([true])
    rmSync(env.RUNNER_TEMP, { recursive: true })
    const inSystem = aFile(env)
    expect(inSystem.isInRunnerFolder).toBe(false)
    expect(findStepFiles(env).map((path) => path.includes(inSystem.name))).toEqual([true])
  })

  const shared = { ...STEP, GITHUB_RUN_ID: `8-${process.pid}` }
  it.each([
    ['of another leg of the matrix', { 'INPUT_CHECK-RUN-ID': '12' }],
    ['of another runner of the machine', { RUNNER_NAME: 'runner-2' }],
    ['of another workflow run', { GITHUB_RUN_ID: `9-${process.pid}` }],
    ['of a runner with another temporary folder', { RUNNER_TEMP: '/not/there' }],
    ['of a re-run', { GITHUB_RUN_ATTEMPT: '2' }],
    ['of another job', { GITHUB_JOB: 'lint' }],
    ['of another repository', { GITHUB_REPOSITORY: 'shop/other' }],
    ['of a use that talks to another project', { INPUT_PROJECT: 'docs' }],
    ['of a use that talks to another service', { 'INPUT_BASE-URL': 'https://other.example.com' }],
    ['of a use that runs a test suite', { 'INPUT_TEST-SUITE': 'smoke' }],
  ])('does not find the file %s', (_, other) => {
    // Without a temporary folder of their own both lie in the system's.
    aFile(shared)
    const mine = findStepFiles(shared)
    aFile({ ...shared, ...other })
    expect(findStepFiles(shared)).toEqual(mine)
    expect(findStepFiles({ ...shared, ...other })).not.toContain(mine[0])
  })

  it('takes no link for a file', () => {
    const env = { ...STEP, RUNNER_TEMP: temporaryFolder() }
    const { name } = aFile(env)
    const target = join(temporaryFolder(), 'target')
    writeFileSync(target, '{"pid":1}')
    rmSync(join(env.RUNNER_TEMP, name))
    symlinkSync(target, join(env.RUNNER_TEMP, name))
    expect(findStepFiles(env)).toEqual([])
    expect(findStepFiles(env, name)).toEqual([])
  })

  it.skipIf(process.getuid === undefined)('takes no file of another user', () => {
    const env = { ...STEP, RUNNER_TEMP: temporaryFolder() }
    const { name } = aFile(env)
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(statSync(env.RUNNER_TEMP).uid + 1)
    onTestFinished(() => getuid.mockRestore())
    expect(findStepFiles(env)).toEqual([])
    expect(findStepFiles(env, name)).toEqual([])
  })
})

describe.skipIf(process.platform !== 'linux')('the process of a main', () => {
  /** A process with a file of its own, as main has one; it exits on SIGHUP. */
  async function aMain(shell?: string): Promise<{ readonly child: ChildProcess; readonly path: string }> {
    const env = { ...STEP, RUNNER_TEMP: temporaryFolder() }
    const source = new URL('../../src/github/step-file.ts', import.meta.url).href
    const program = `const { createStepFile } = await import('${source}')
      const { name } = createStepFile(process.env)
      process.on('SIGHUP', () => process.exit(0))
      setInterval(() => {}, 1000)
      console.log(name)`
    const command = [process.execPath, '--input-type=module', '--eval', program]
    const [file = '', ...args] = shell === undefined ? command : ['sh', '-c', shell, 'sh', ...command]
    const child = spawn(file, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [name] = await once(child.stdout ?? child, 'data')
    return { child, path: findStepFiles(env, String(name).trim())[0] ?? '' }
  }

  it('lives until it exits, and then gets no signal', async () => {
    const { child, path } = await aMain()
    const main = mainOf(path)
    const record = main.read() ?? expect.fail()
    expect(record.pid).toBe(child.pid)
    expect(main.isAlive(record)).toBe(true)
    main.signal(record, 'SIGHUP')
    await once(child, 'exit')
    expect(main.isAlive(record)).toBe(false)
  })

  it('has exited also if its parent does not take note of that', async () => {
    const { path } = await aMain('"$@" & exec sleep 600')
    const main = mainOf(path)
    const record = main.read() ?? expect.fail()
    expect(main.isAlive(record)).toBe(true)
    main.signal(record, 'SIGHUP')
    await expect.poll(() => main.isAlive(record), { timeout: 30_000 }).toBe(false)
    expect(readFileSync(`/proc/${record.pid}/stat`, 'utf8')).toContain(') Z ')
  })

  it('is none that has its id by chance, after a restart of the machine or of the process', async () => {
    const { child, path } = await aMain()
    const main = mainOf(path)
    const record = main.read() ?? expect.fail()
    for (const other of [{ startTime: '1' }, { bootId: 'another boot' }]) {
      expect(main.isAlive({ ...record, ...other })).toBe(false)
      main.signal({ ...record, ...other }, 'SIGKILL')
    }
    main.signal(record, 'SIGHUP')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('gets no signal where there is no /proc to know it by', async () => {
    const { child, path } = await aMain()
    const main = mainOf(path)
    const record = main.read() ?? expect.fail()
    const unknown = { ...record, startTime: undefined }
    expect(main.isAlive(unknown)).toBe(true)
    main.signal(unknown, 'SIGKILL')
    main.signal(record, 'SIGHUP')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
