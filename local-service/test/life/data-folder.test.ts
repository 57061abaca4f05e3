import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { puppet, startService, startServiceProcess, temporaryFolder } from '../support/a-local-service.ts'

/** Linux lets root alone mount a small disk. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe('a service with a data folder', () => {
  it('knows its finished runs after a restart, also those of a suite that is gone from the settings', async () => {
    const dataFolder = join(temporaryFolder(), 'data')
    const suites = { smoke: { project: 'web-shop', name: 'Smoke test' } }
    const first = await startService({ suites, dataFolder })
    const runId = await first.startRun(puppet({}))
    const run = await first.waitFor(runId)
    const { started, path, result } = await first.runSuite('smoke')
    await first.close()

    const second = await startService({ dataFolder })
    // Outputs are kept only until the service starts again.
    expect((await second.get(runId)).body).toEqual({ ...run, outputBytes: 0 })
    expect(await second.send('GET', `${path}/result`)).toEqual(result)
    expect((await second.get(started.body.testSuiteRunId)).status).toBe(404)
  })

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

it.runIf(canMount)(
  'a full disk is named by the run in the words of what met it, and by the refusal of the next run',
  async () => {
    const [home, disk] = [temporaryFolder(), temporaryFolder()]
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', disk])
    onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
    const [data, filler] = [join(disk, 'data'), join(disk, 'filler')]
    const command = ['sh', '-c', 'cat /dev/zero > "$FILLER"; exit 1']
    const project = { folder: home, framework: 'vitest', command }
    const client = await startServiceProcess(project, data, { FILLER: filler }).ready()
    expect(await client.run()).toMatchObject({
      status: 'FAILED',
      message: expect.stringMatching(/^vitest exited with code 1 without a report: .*No space left on device\n/),
    })
    const error = 'The run was not started, because it could not be saved: database or disk is full.'
    expect(await client.start()).toEqual({ status: 500, body: { error } })
  },
)
