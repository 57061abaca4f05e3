import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('an unexpected error is one error command that the runner survives, and exit code 1', () => {
  const source = new URL('../src/process.ts', import.meta.url).href
  const script = `
    const { exitAfter } = await import(${JSON.stringify(source)})
    await exitAfter(async () => { throw new TypeError('100 %\\n' + '😀'.repeat(600)) }, () => {})
  `
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
  expect(stdout).toMatch(/^::error::The action failed unexpectedly\. .* TypeError: 100 %25 \uFFFD{400,}[^\n]*\n$/)
  expect(stdout).not.toContain('😀')
  expect(status).toBe(1)
})
