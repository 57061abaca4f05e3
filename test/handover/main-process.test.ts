import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isRunning, type MainProcess, sendSignal, thisProcess } from '../../src/handover/main-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe.skipIf(process.platform !== 'linux')('a main process', () => {
  const source = new URL('../../src/handover/main-process.ts', import.meta.url).href
  const PROGRAM = `const { thisProcess } = await import('${source}')
    process.on('SIGHUP', () => process.exit(0))
    setInterval(() => {}, 1000)
    console.log(JSON.stringify(thisProcess()))`

  /** A process that prints how post recognises it, and exits on SIGHUP. */
  async function aMain(shell?: string): Promise<{ readonly child: ChildProcess; readonly main: MainProcess }> {
    const command = [process.execPath, '--input-type=module', '--eval', PROGRAM]
    const [file = '', ...args] = shell === undefined ? command : ['sh', '-c', shell, 'sh', ...command]
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = await once(child.stdout ?? child, 'data')
    return { child, main: JSON.parse(String(line)) }
  }

  it('lives until it exits, and then gets no signal', async () => {
    const { child, main } = await aMain()
    expect(main.pid).toBe(child.pid)
    expect(isRunning(main)).toBe(true)
    sendSignal(main, 'SIGHUP')
    await once(child, 'exit')
    expect(isRunning(main)).toBe(false)
  })

  it('has exited even if its parent does not read its exit code', async () => {
    const { main } = await aMain('"$@" & exec sleep 600')
    expect(isRunning(main)).toBe(true)
    sendSignal(main, 'SIGHUP')
    await expect.poll(() => isRunning(main), { timeout: 30_000 }).toBe(false)
    expect(readFileSync(`/proc/${main.pid}/stat`, 'utf8')).toContain(') Z ')
  })

  it('is not a later process with the same id, on this boot of the machine or on another', async () => {
    const { child, main } = await aMain()
    for (const other of [{ startTime: '1' }, { bootId: 'another boot' }]) {
      expect(isRunning({ ...main, ...other })).toBe(false)
      sendSignal({ ...main, ...other }, 'SIGKILL')
    }
    sendSignal(main, 'SIGHUP')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('is recognised by field 22 of its stat file, whatever the name of its program is', async () => {
    const program = join(temporaryFolder(), 'a) R 1 (b')
    copyFileSync('/bin/sleep', program)
    const child = spawn(program, ['600'], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const { pid = 0 } = child
    const text = () => readFileSync(`/proc/${pid}/stat`, 'utf8')
    await expect.poll(text).toContain('(a) R 1 (b)')
    const [, fromField3 = ''] = text().split('(a) R 1 (b) ')
    const fields = fromField3.trim().split(' ')
    const startTime = fields[22 - 3]
    const { bootId } = thisProcess()
    expect(isRunning({ pid, startTime, bootId })).toBe(true)
    const others = fields.filter((field) => field !== startTime)
    expect(others.length).toBeGreaterThan(40)
    expect(others.filter((field) => isRunning({ pid, startTime: field, bootId }))).toEqual([])
  })

  it('gets no signal if there is no /proc', async () => {
    const { child, main } = await aMain()
    const unknown = { ...main, startTime: undefined }
    expect(isRunning(unknown)).toBe(true)
    sendSignal(unknown, 'SIGKILL')
    sendSignal(main, 'SIGHUP')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
