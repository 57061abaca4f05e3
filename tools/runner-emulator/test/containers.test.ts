import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isAlive } from '../../../test/support/is-alive.ts'
import { folderOfTests } from '../../../test/support/temporary-folder.ts'
import { until } from '../../../test/support/until.ts'
import { type Container, prepareStep, type Step } from '../step-runner/runner.ts'
import { pidIn, spawning, writeAction } from './fixture.ts'

const root = folderOfTests()

/** Main logs each signal and never exits by itself. At SIGHUP, it writes to its files. Post reads main's own file. */
function prepare(container: Container, post = ''): Step {
  const main = `const file = process.env.RUNNER_TEMP + '/main'
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => fs.appendFileSync(file, ' ' + name))
process.on('SIGHUP', () => { console.log('late'); put('OUTPUT', 'late=1\\n'); fs.appendFileSync(file, ' late') })
fs.writeFileSync(file, 'pid ' + process.pid)
put('STATE', 'pid=' + process.pid + '\\n'); put('OUTPUT', 'early=1\\n'); put('STEP_SUMMARY', 'early\\n')
${spawning({ detached: true, stdio: 'ignore' })}; console.log('ready'); hang()`
  const reading = `const read = () => fs.readFileSync(process.env.RUNNER_TEMP + '/main', 'utf8')\n`
  return prepareStep({ actionDir: writeAction(root, { main, post: reading + post }), container })
}

const CANCEL = { on: /ready/, by: 'cancel' } as const

describe.concurrent('a cancel in a container', () => {
  test('ends the step at once, and main lives beside post until the container is removed', async () => {
    await using step = prepare(
      'docker',
      `process.kill(Number(process.env.STATE_pid), 'SIGHUP')
const timer = setInterval(() => { if (read().includes('late')) { clearInterval(timer); console.log(read()) } }, 10)`,
    )
    const { main, mainExit, post, jobStatus, summary } = await step.run(CANCEL)
    expect(main).toMatchObject({ conclusion: 'cancelled', exitCode: null, signal: null, signalsSent: [] })
    expect(main).toMatchObject({ outputs: { early: '1' }, state: { pid: expect.any(String) } })
    expect(main.log.slice(1)).toEqual(['ready', '##[error]The operation was canceled.'])
    expect(post.log).toEqual([`pid ${main.state.pid} late`])
    expect({ jobStatus, summary }).toEqual({ jobStatus: 'cancelled', summary: 'early\n' })
    expect(await mainExit).toMatchObject({ signal: 'SIGKILL', signalsSent: ['SIGKILL'] })
    await until(() => !isAlive(pidIn(main.log[0])))
  })

  test('makes the step fail with hooks; without a volume, the step loses its state, outputs and summary, but no file', async () => {
    await using step = prepare('hooks without volume', `console.log(read(), process.env.STATE_pid)`)
    const { main, post, summary, jobStatus } = await step.run(CANCEL)
    expect(main).toMatchObject({ conclusion: 'failure', outputs: {}, state: {} })
    expect(post.log).toEqual([expect.stringMatching(/^pid \d+ undefined$/)])
    expect({ jobStatus, summary }).toEqual({ jobStatus: 'cancelled', summary: '' })
  })
})

test('without a volume, state and outputs come back after exit code 0', async () => {
  const main = `put('STATE', 's=1\\n'); put('OUTPUT', 'o=1\\n')`
  await using step = prepareStep({ actionDir: writeAction(root, { main }), container: 'hooks without volume' })
  expect((await step.run()).main).toMatchObject({ state: { s: '1' }, outputs: { o: '1' } })
})

test('a shutdown of the runner empties the temporary folder, and main lives on until the container is removed', async () => {
  await using step = prepare('docker')
  const { main, mainExit, post, jobStatus } = await step.run({ on: /ready/, by: 'shutdown' })
  expect(main.conclusion).toBe('cancelled')
  expect(post.conclusion).toBe('skipped')
  expect(jobStatus).toBe('failure')
  expect(readdirSync(step.tempDir)).toEqual([])
  expect(isAlive(Number(main.state.pid))).toBe(true)
  await step.dispose()
  expect(await mainExit).toMatchObject({ signal: 'SIGKILL', signalsSent: ['SIGKILL'] })
  expect([step.workspace, step.tempDir].filter((folder) => existsSync(folder))).toEqual([])
})
