import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startService, temporaryFolder } from '../support/a-local-service.ts'

/** Linux lets root alone mount a small disk. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe('a service with a data folder', () => {
  it.runIf(canMount)('starts again if earlier outputs cannot be removed, and says so', async () => {
    const dataFolder = join(temporaryFolder(), 'data')
    const outputs = join(dataFolder, 'outputs/run')
    mkdirSync(outputs, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', outputs])
    onTestFinished(() => void execFileSync('umount', ['--lazy', outputs]))
    const service = await startService({ dataFolder })
    expect(service.log).toEqual([
      expect.stringMatching(/warning: could not remove the outputs of earlier runs: .*busy/s),
    ])
  })

  it('keeps it from other users, and the values of variables out of it', async () => {
    const dataFolder = join(temporaryFolder(), 'data')
    const service = await startService({ dataFolder })
    await service.run({ envOverrides: { TOKEN: 'a-secret-value' } })
    await service.close()
    expect(statSync(dataFolder).mode & 0o777).toBe(0o700)
    // Also in a folder that others can enter.
    expect(statSync(join(dataFolder, 'runs.sqlite')).mode & 0o777).toBe(0o600)
    const written = readdirSync(dataFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const text = written.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join()
    expect(text).toContain('web-shop')
    expect(text).not.toContain('a-secret-value')
  })
})
