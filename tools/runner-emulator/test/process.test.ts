import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SIGINT_GRACE_MS, SIGTERM_GRACE_MS } from '../process.ts'
import { prepareStep, type Step } from '../runner.ts'
import { STUBBORN, writeAction } from './fixture.ts'

// The tests that take the runner's patience in real time, side by side.

let root = ''

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'runner-process-test-')))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function prepare(main: string): Step {
  return prepareStep({ actionDir: writeAction(root, { main }) })
}

/** Whether it runs: a zombie that nobody has asked for does not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(10)
}

function spawning(script: string, options: object): string {
  return `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}], ${JSON.stringify(options)})
console.log('child ' + child.pid)`
}

describe.concurrent('a process in real time', () => {
  test('that is cancelled gets SIGINT, 7.5 s, SIGTERM, 2.5 s, SIGKILL, and what it wrote counts', async () => {
    expect([SIGINT_GRACE_MS, SIGTERM_GRACE_MS]).toEqual([7500, 2500])
    await using step = prepare(STUBBORN)
    const main = step.startMain()
    await main.waitForLine(/ready/)
    const startedAtMs = performance.now()
    const ended = await main.cancel()
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(9990)
    expect(ended).toMatchObject({
      conclusion: 'cancelled',
      signal: 'SIGKILL',
      signalsSent: ['SIGINT', 'SIGTERM', 'SIGKILL'],
    })
    expect(Number(ended.outputs.SIGTERM) - Number(ended.outputs.SIGINT)).toBeGreaterThanOrEqual(7400)
    expect(ended.log.at(-1)).toBe('##[error]The operation was canceled.')
  }, 30_000)

  test('has ended five seconds after its exit where another still holds its pipe, which dispose then ends', async () => {
    const step = prepare(`${spawning('setInterval(() => {}, 1000)', { stdio: 'inherit' })}; process.exit(0)`)
    const ended = await step.startMain().ended()
    const pid = Number(ended.log[0]?.split(' ')[1])
    expect(ended).toMatchObject({ conclusion: 'success', exitCode: 0, pipesClosed: false })
    expect(ended.durationMs).toBeGreaterThanOrEqual(4990)
    expect(isAlive(pid)).toBe(true)
    await step.dispose()
    await untilGone(pid)
  }, 30_000)

  test('has not ended while a child holds its pipe', async () => {
    const holding = `process.on('SIGINT', () => {}); setTimeout(() => {}, 700)`
    await using step = prepare(
      `process.on('SIGINT', () => process.exit(0)); ${spawning(holding, { stdio: 'inherit' })}; hang()`,
    )
    const main = step.startMain()
    await main.waitForLine(/child/)
    const ended = await main.cancel({ sigintGraceMs: 60_000 })
    expect(ended).toMatchObject({ pipesClosed: true, signalsSent: ['SIGINT'] })
    expect(ended.durationMs).toBeGreaterThanOrEqual(690)
  })

  test('leaves nothing behind when it is disposed of, detached children included', async () => {
    const step = prepare(`${spawning('setInterval(() => {}, 1000)', { detached: true, stdio: 'ignore' })}; hang()`)
    const main = step.startMain()
    const pids = [main.pid ?? 0, Number((await main.waitForLine(/child/)).split(' ')[1])]
    expect(pids.map(isAlive)).toEqual([true, true])
    await step.dispose()
    await Promise.all(pids.map(untilGone))
    expect(existsSync(step.workspace)).toBe(false)
    expect(existsSync(step.tempDir)).toBe(false)
  })
})
