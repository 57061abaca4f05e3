import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installPackages, writeFiles } from '../../test/support/git-repository.ts'
import { PLAIN_ENV, startService, temporaryFolder, until } from './a-local-service.ts'

/** Notes how Vitest's main process was started, and what its configuration and its tests see. */
const FILES = {
  'vitest.config.mjs': `
    import { readFileSync, writeFileSync } from 'node:fs'
    const [args, env] = ['cmdline', 'environ'].map((file) => readFileSync('/proc/self/' + file, 'utf8').split('\\0'))
    const { PATH, TMPDIR, LOCAL_SERVICE_RUN_ID, COLOUR } = process.env
    const seen = { PATH, TMPDIR, LOCAL_SERVICE_RUN_ID, COLOUR, argv: process.argv.slice(2), cwd: process.cwd() }
    writeFileSync('seen.json', JSON.stringify({ args, env, seen }))
    export default { test: { name: 'unit' } }`,
  'a.test.js': "import { it } from 'vitest'\nit('adds', () => {})",
}

interface Seen {
  readonly args: string[]
  readonly env: string[]
  readonly seen: Record<string, unknown>
}

async function aProject(args: string[] = []) {
  const folder = await temporaryFolder()
  await installPackages(folder)
  await writeFiles(folder, FILES)
  const start = (preparesRun: boolean) => startService({ projects: { shop: { folder, args } } }, { preparesRun })
  return {
    folder,
    start,
    seen: async (): Promise<Seen> => JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8')),
  }
}

/** The processes in a folder that wait for a run. */
function waitingIn(folder: string): string[] {
  return readdirSync('/proc').filter((id) => {
    try {
      const args = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0')
      return args.includes('--wait') && readlinkSync(`/proc/${id}/cwd`) === realpathSync(folder)
    } catch {
      return false
    }
  })
}

describe.skipIf(process.platform !== 'linux')('a process of Vitest that waits for its run', () => {
  it('gets the first run, and sees what a process sees that did not wait', async () => {
    const { folder, start, seen } = await aProject(['--retry=1'])
    const service = await start(true)
    const [before] = waitingIn(folder)
    const runs = []
    for (const _ of ['first', 'second']) {
      const runId = await service.startRun({ frameworkProjectName: 'unit' })
      expect(await service.waitFor(runId)).toMatchObject({
        status: 'PASSED',
        results: { testCases: [{ title: 'adds' }] },
      })
      runs.push({ runId, ...(await seen()) })
    }
    expect(before).toBeDefined()
    expect(waitingIn(folder)).toEqual([])
    expect(runs.map(({ args }) => args.includes('--wait'))).toEqual([true, false])
    const [first, second] = runs.map(({ runId, seen: all }) =>
      JSON.parse(JSON.stringify(all).replaceAll(runId, 'ID').replaceAll(runId.slice(0, 8), 'SHORT')),
    )
    expect(first).toEqual(second)
    // Whoever looks for the processes of a run looks there.
    expect(runs[0]?.env).toContain(`LOCAL_SERVICE_RUN_ID=${runs[0]?.runId}`)
  })

  it('gets only one of two runs that are started at once', async () => {
    const { start } = await aProject()
    const service = await start(true)
    const runIds = await Promise.all([service.startRun(), service.startRun()])
    expect(new Set(runIds).size).toBe(2)
    for (const runId of runIds) expect(await service.waitFor(runId)).toMatchObject({ status: 'PASSED' })
  })

  it.each<[string, { envOverrides?: Record<string, string> }, (folder: string) => Promise<unknown>]>([
    ['has other variables', { envOverrides: { COLOUR: 'red' } }, async () => {}],
    ['follows an installation', {}, (folder) => mkdir(join(folder, 'node_modules/another'))],
  ])('ends if the run %s', async (_what, parameters, change) => {
    const { folder, start, seen } = await aProject()
    const service = await start(true)
    expect(waitingIn(folder)).toHaveLength(1)
    await change(folder)
    expect(await service.waitFor(await service.startRun(parameters))).toMatchObject({ status: 'PASSED' })
    expect((await seen()).args).not.toContain('--wait')
    expect((await seen()).seen.COLOUR).toBe(parameters.envOverrides?.COLOUR)
    await until(() => waitingIn(folder).length === 0)
  })

  it('ends with the service', async () => {
    const { folder, start } = await aProject()
    const service = await start(true)
    expect(waitingIn(folder)).toHaveLength(1)
    await service.close()
    expect(waitingIn(folder)).toEqual([])
  })

  it('ends without a word if the service is killed', async () => {
    const { folder } = await aProject()
    const program = join(import.meta.dirname, '../src/frameworks/vitest-run.ts')
    const args = [program, '--wait', 'run']
    const options = { cwd: folder, env: PLAIN_ENV, input: '', encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('is not started by the command', async () => {
    const { folder, start } = await aProject()
    await start(false)
    expect(waitingIn(folder)).toEqual([])
  })
})
