import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { maskKey } from '../src/process.ts'

/** Node's arguments for a process that runs this task and exits. The task can call `abort`. */
function argumentsFor(task: string): string[] {
  const source = new URL('../src/process.ts', import.meta.url).href
  const script = `
    const { abortOnSignals, exitAfter } = await import(${JSON.stringify(source)})
    const { signal, abort } = abortOnSignals()
    const onLogClosed = () => console.log('log closed')
    await exitAfter(async () => { ${task} }, { signal, crashLevel: 'error', onLogClosed })
  `
  return ['--input-type=module', '--eval', script]
}

function exitAfterTask(task: string) {
  return spawnSync(process.execPath, argumentsFor(task), { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' })
}

/** As `exitAfterTask`, but nobody reads the log yet. It goes through a socket, because Node waits for a pipe of its own. */
function startTask(task: string) {
  const child = spawn(process.execPath, argumentsFor(task), { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { stdout: child.stdout, exit: once(child, 'exit') }
}

it.each([
  [' s3cret\n', '::add-mask::s3cret\n'],
  ['100 %\nin two lines', '::add-mask::100 %25%0Ain two lines\n'],
])('the key %j is masked by one command', (key, expected) => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  maskKey({ 'INPUT_API-KEY': key })
  maskKey({ 'INPUT_API-KEY': ' ' })
  maskKey({ 'INPUT_API-KEY': '', 'INPUT_BASE-URL': 'https://tests.example.com', TEST_RUN_SERVICE_KEY: key })
  maskKey({})
  // The key of an announced service.
  maskKey({ 'INPUT_API-KEY': '', TEST_RUN_SERVICE_KEY: key })
  expect(write.mock.calls).toEqual([[expected], [expected]])
})

// On Windows, Node raises SIGBREAK at the second console event. Other systems cannot send it.
it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'])('%s aborts the step, and does not end the process', (name) => {
  const task = `process.emit('${name}'); return signal.reason?.cause === 'system signal' ? 3 : 4`
  expect(exitAfterTask(task).status).toBe(3)
})

it('an unexpected error is exit code 1 and one error command at which the runner does not abort', () => {
  const { status, stdout } = exitAfterTask(`throw new TypeError('100 %\\n' + '😀'.repeat(600))`)
  expect(stdout).toMatch(/^::error::The action failed unexpectedly\. .* TypeError: 100 %25 \uFFFD{400,}[^\n]*\n$/)
  expect(stdout).not.toContain('😀')
  expect(status).toBe(1)
})

it('the exit waits for a reader that begins to read late, so that the log has the verdict at its end', async () => {
  const { stdout, exit } = startTask(`process.stdout.write('x'.repeat(4_000_000) + 'verdict'); return 3`)
  await once(stdout, 'readable')
  // The exit must not come meanwhile.
  await delay(300)
  expect((await text(stdout)).slice(4_000_000)).toBe('verdict')
  expect(await exit).toEqual([3, null])
})

it('if the step is aborted before or while its log is written, the exit does not wait long for the reader', async () => {
  // Of the 9.5 s after an abort, 9 s have passed. Without an abort, the exit comes after 30 s.
  const aborting = `const { uptime } = process
    const past = () => { process.uptime = uptime; return uptime() - 9 }
    const abortBefore = () => { process.uptime = past; abort('system signal') }
    process.stdout.write('x'.repeat(10_000_000)); setTimeout(process.exit, 20_000, 4)`
  const exits = ['abortBefore()', 'setTimeout(abortBefore, 100)'].map(
    (abort) => startTask(`${aborting}; ${abort}; return 3`).exit,
  )
  expect(await Promise.all(exits)).toEqual([
    [3, null],
    [3, null],
  ])
})

it('an error of stdout means that nobody reads the log, and an error of stderr means nothing', () => {
  const errorOf = (stream: string) => `process.${stream}.emit('error', new Error('EPIPE')); return 3`
  expect(exitAfterTask(errorOf('stdout'))).toMatchObject({ status: 3, stdout: 'log closed\n' })
  expect(exitAfterTask(errorOf('stderr'))).toMatchObject({ status: 3, stdout: '' })
})

it('a warning of Node itself is not shown, because it does not help the person who reads the log', () => {
  const { status, stderr } = exitAfterTask(`process.emitWarning('internal'); await new Promise(setImmediate); return 0`)
  expect([status, stderr]).toEqual([0, ''])
})
