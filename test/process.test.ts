import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { maskKey } from '../src/process.ts'

/** A process that runs this task and exits. */
function exitAfterTask(task: string) {
  const source = new URL('../src/process.ts', import.meta.url).href
  const script = `
    const { exitAfter } = await import(${JSON.stringify(source)})
    await exitAfter(async () => { ${task} }, { crashLevel: 'error', onLogClosed: () => console.log('log closed') })
  `
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
}

it.each([
  [' s3cret\n', '::add-mask::s3cret\n'],
  ['100 %\nin two lines', '::add-mask::100 %25%0Ain two lines\n'],
])('the key %j is masked by one command', (key, expected) => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  maskKey({ 'INPUT_API-KEY': key })
  maskKey({ 'INPUT_API-KEY': ' ' })
  maskKey({})
  expect(write.mock.calls).toEqual([[expected]])
})

it('an unexpected error is exit code 1 and one error command at which the runner does not abort', () => {
  const { status, stdout } = exitAfterTask(`throw new TypeError('100 %\\n' + '😀'.repeat(600))`)
  expect(stdout).toMatch(/^::error::The action failed unexpectedly\. .* TypeError: 100 %25 \uFFFD{400,}[^\n]*\n$/)
  expect(stdout).not.toContain('😀')
  expect(status).toBe(1)
})

it('the exit waits until a log that is longer than a pipe is written', () => {
  const { status, stdout } = exitAfterTask(`process.stdout.write('x'.repeat(1_000_000)); return 3`)
  expect([status, stdout.length]).toEqual([3, 1_000_000])
})

it('the exit has its code, also if nobody reads a log that is longer than a pipe', async () => {
  const source = new URL('../src/process.ts', import.meta.url).href
  const script = `
    const { exitAfter } = await import(${JSON.stringify(source)})
    await exitAfter(async () => { process.stdout.write('x'.repeat(10_000_000)); return 3 }, { crashLevel: 'error' })
  `
  // On a pipe, Node would write before it goes on. A socket is written later.
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [code] = await once(child, 'exit')
  expect(code).toBe(3)
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
