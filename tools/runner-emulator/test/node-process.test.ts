import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareStep, type Step, type StepOptions } from '../runner.ts'
import { isAlive, pidIn, STUBBORN, spawning, untilGone, writeAction } from './fixture.ts'

// Real processes; the runner's grace periods pass when the test says so.

let root = ''

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'runner-process-test-')))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function prepare(main: string, sleep?: StepOptions['sleep']): Step {
  return prepareStep({ actionDir: writeAction(root, { main }), sleep })
}

const FOREVER = new Promise<never>(() => {})

describe.concurrent('a process', () => {
  test('that is cancelled gets SIGINT, 7.5 s, SIGTERM, 2.5 s, SIGKILL', async () => {
    const waits: number[] = []
    await using step = prepare(STUBBORN, async (ms) => {
      waits.push(ms)
      await (waits.length === 1
        ? main.waitForLine(/got SIGINT/)
        : waits.length === 2
          ? main.waitForLine(/got SIGTERM/)
          : FOREVER)
    })
    const main = step.startMain()
    await main.waitForLine(/ready/)
    const result = await main.cancel()
    expect(waits.slice(0, 2)).toEqual([7500, 2500])
    expect(result).toMatchObject({
      conclusion: 'cancelled',
      signal: 'SIGKILL',
      signalsSent: ['SIGINT', 'SIGTERM', 'SIGKILL'],
      log: ['ready', 'got SIGINT', 'got SIGTERM', '##[error]The operation was canceled.'],
    })
  })

  test('that exits in its grace period gets nothing more', async () => {
    await using step = prepare(
      `process.on('SIGINT', () => process.exit(3)); console.log('ready'); hang()`,
      () => FOREVER,
    )
    const main = step.startMain()
    await main.waitForLine(/ready/)
    expect(await main.cancel()).toMatchObject({ exitCode: 3, signalsSent: ['SIGINT'] })
  })

  test('that is terminated gets SIGTERM, 2.5 s, SIGKILL', async () => {
    const waits: number[] = []
    await using step = prepare(STUBBORN, async (ms) => {
      waits.push(ms)
      await (waits.length === 1 ? main.waitForLine(/got SIGTERM/) : FOREVER)
    })
    const main = step.startMain()
    await main.waitForLine(/ready/)
    expect(await main.terminate()).toMatchObject({ conclusion: 'cancelled', signalsSent: ['SIGTERM', 'SIGKILL'] })
    expect(waits[0]).toBe(2500)
  })

  test('counts as finished five seconds after its exit if another process holds its pipe', async () => {
    const waits: number[] = []
    const holder = spawning({ stdio: 'inherit' })
    await using step = prepare(`${holder}; process.exit(0)`, async (ms) => {
      waits.push(ms)
      await main.waitForLine(/child/)
    })
    const main = step.startMain()
    const result = await main.result()
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, pipesClosed: false })
    expect(waits).toEqual([5000])
    const pid = pidIn(result.log[0])
    expect(isAlive(pid)).toBe(true)
    await step.dispose()
    await untilGone(pid)
  })

  test('is not finished while a child holds its pipe', async () => {
    await using step = prepare(
      `process.on('SIGINT', () => process.exit(0)); ${spawning({ stdio: 'inherit' })}; hang()`,
      () => FOREVER,
    )
    const main = step.startMain()
    const child = pidIn(await main.waitForLine(/child/))
    let isFinished = false
    const result = main.cancel().finally(() => {
      isFinished = true
    })
    while (main.isRunning) await delay(10)
    await delay(50)
    expect(isFinished).toBe(false)
    process.kill(child, 'SIGKILL')
    expect(await result).toMatchObject({ pipesClosed: true, exitCode: 0, signalsSent: ['SIGINT'] })
  })

  test('leaves nothing behind when it is disposed of, not even detached children', async () => {
    const step = prepare(`${spawning({ detached: true, stdio: 'ignore' })}; hang()`)
    const main = step.startMain()
    const pids = [main.pid ?? 0, pidIn(await main.waitForLine(/child/))]
    expect(pids.map(isAlive)).toEqual([true, true])
    await step.dispose()
    await Promise.all(pids.map(untilGone))
    expect(existsSync(step.workspace)).toBe(false)
    expect(existsSync(step.tempDir)).toBe(false)
  })
})
