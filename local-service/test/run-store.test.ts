import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writeFiles } from '../../test/support/git-repository.ts'
import type { RunOutcome } from '../src/execution/outcome.ts'
import { RunQueue } from '../src/runs/queue.ts'
import { CANCELLED, finishRun, markRunning, queueRun } from '../src/runs/run.ts'
import { openRunStore, type RunStore, refuseDataFolderIn } from '../src/runs/store.ts'
import { puppet, startPuppetService, startServiceProcess, temporaryFolder, until } from './a-local-service.ts'

const RESOURCES = {
  runFolder: '/runs/1',
  outputFolder: '/runs/1/output',
  temporaryFolder: '/tmp/1',
  testsTemporaryFolder: '/tmp/1/tmp',
  tree: '/trees/1',
}
const PASSED: RunOutcome = { status: 'PASSED', testCases: [{ title: 'adds', status: 'PASSED', durationMs: 3 }] }

async function openStore(): Promise<RunStore> {
  const store = openRunStore(await temporaryFolder())
  onTestFinished(() => {
    try {
      store.close()
    } catch {
      // The test has closed it.
    }
  })
  return store
}

describe('the store of runs', () => {
  it('has every phase of a run after it is opened again', async () => {
    const store = await openStore()
    const [queued, running, failed] = [1, 2, 3].map((run) => queueRun({ projectId: `shop ${run}`, branchName: 'main' }))
    if (!queued || !running || !failed) throw new Error('There are three runs.')
    markRunning(running)
    markRunning(failed)
    const place = { message: 'Error: two\nlines', filePath: 'a.test.ts', line: 7 }
    const testCases = [{ title: 'adds', status: 'FAILED', durationMs: 3, ...place } as const]
    finishRun(failed, { status: 'FAILED', testCases, message: 'it failed' })
    for (const run of [queued, running, failed]) store.save(run)
    store.close()

    const again = openRunStore(store.folder)
    for (const run of [queued, running, failed]) expect(again.find(run.runId)).toEqual(run)
    expect(again.find('another')).toBeUndefined()
    expect(again.findLeft()).toEqual([{ run: queued }, { run: running }])
    again.close()
  })

  it('lists a finished run as left until its resources are removed', async () => {
    const store = await openStore()
    const run = queueRun({ projectId: 'shop' })
    finishRun(run, PASSED)
    store.save(run, RESOURCES)
    expect(store.findLeft()).toEqual([{ run, resources: RESOURCES }])
    store.markRemoved(run.runId)
    expect(store.findLeft()).toEqual([])
  })

  it('forgets the oldest finished runs when it is opened', async () => {
    const store = await openStore()
    const unfinished = queueRun({ projectId: 'shop' })
    store.save(unfinished)
    const runs = Array.from({ length: 1002 }, () => queueRun({ projectId: 'shop' }))
    for (const run of runs) {
      finishRun(run, PASSED)
      // What the second run has left on the machine is not removed yet.
      store.save(run, run === runs[1] ? RESOURCES : undefined)
    }
    store.close()
    const again = openRunStore(store.folder)
    expect(runs.slice(0, 4).map(({ runId }) => again.find(runId) !== undefined)).toEqual([false, true, true, true])
    expect(again.find(unfinished.runId)).toBeDefined()
    again.close()
  })

  it('is opened by one service at a time', async () => {
    const { folder } = await openStore()
    const sentence = `Cannot use the data folder ${folder}: another service uses it. Choose another folder with --data.`
    expect(() => openRunStore(folder)).toThrow(sentence)
  })

  it.each([
    ['a file', { data: '' }],
    ['a folder without a database', { 'data/runs.sqlite': 'x'.repeat(5000) }],
  ])('is not opened in %s', async (_case, files) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, files as Record<string, string>)
    expect(() => openRunStore(join(folder, 'data'))).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringContaining(`Cannot use the data folder ${folder}/data: `),
      }),
    )
  })

  it('is not opened in a repository that the service serves', async () => {
    const folder = await temporaryFolder()
    const shop = join(folder, 'project/packages/shop')
    mkdirSync(shop, { recursive: true })
    const data = join(folder, 'project/data')
    refuseDataFolderIn([shop], data)
    await writeFiles(folder, { 'project/.git/HEAD': '' })
    expect(() => refuseDataFolderIn([shop], data)).toThrow(
      `The data folder ${data} lies in ${folder}/project, so tests`,
    )
    expect(existsSync(data)).toBe(false)
  })
})

describe('a service with a data folder', () => {
  it('knows its finished runs after a restart, also those of a suite that is gone from the settings', async () => {
    const dataFolder = join(await temporaryFolder(), 'data')
    const suites = { smoke: { project: 'web-shop', name: 'Smoke test' } }
    const first = await startPuppetService({ suites }, { dataFolder })
    const runId = await first.startRun(puppet({}))
    const run = await first.waitFor(runId)
    const { testSuiteRunId } = (await first.send('POST', '/v1/testSuite/smoke/run')).body
    const suiteRun = `/v1/testSuiteRun/${testSuiteRunId}`
    while ((await first.send('GET', `${suiteRun}/status`)).body.status === 'RUNNING');
    const result = await first.send('GET', `${suiteRun}/result`)
    await first.close()

    const second = await startPuppetService({}, { dataFolder })
    expect((await second.get(runId)).body).toEqual(run)
    expect(await second.send('GET', `${suiteRun}/result`)).toEqual(result)
    expect((await second.get(testSuiteRunId)).status).toBe(404)
  })

  it('keeps it from other users, and the values of variables out of it', async () => {
    const dataFolder = join(await temporaryFolder(), 'data')
    const service = await startPuppetService({}, { dataFolder })
    await service.waitFor(await service.startRun({ envOverrides: { TOKEN: 'a-secret-value' } }))
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

/** A queue with one run, and a store that can save nothing while `isFull`. */
async function aQueue({ endsWhenStopped = true } = {}) {
  const store = await openStore()
  const disk = { isFull: false }
  const log: string[] = []
  const save: RunStore['save'] = (run, resources) => {
    if (disk.isFull) throw new Error('database or disk is full')
    store.save(run, resources)
  }
  const queue = new RunQueue({
    concurrency: 1,
    runLimitMinutes: 1,
    store: { ...store, save },
    removeResources: async () => [],
    log: (_runId, text) => log.push(text),
  })
  const run = queueRun({ projectId: 'shop' })
  const ended = Promise.withResolvers<RunOutcome>()
  const execute = (stop: AbortSignal) => {
    if (endsWhenStopped) stop.addEventListener('abort', () => ended.resolve({ status: 'INTERRUPTED', testCases: [] }))
    return ended.promise
  }
  queue.add(run, { resources: RESOURCES, execute })
  const status = () => queue.find(run.runId)?.phase.status
  const saved = () => store.find(run.runId)?.phase
  return { queue, run, disk, ended, log, status, saved }
}

describe('a queue of runs', () => {
  it('has in its store what it says', async () => {
    const { queue, run, ended, status, saved } = await aQueue()
    expect([status(), saved()]).toEqual(['RUNNING', run.phase])
    queue.cancel(run.runId)
    expect([status(), saved()]).toEqual(['CANCELLED', expect.objectContaining(CANCELLED)])
    ended.resolve(PASSED)
    await queue.close()
    expect(saved()).toMatchObject(CANCELLED)
  })

  it('does not say that a cancelled run exceeded its limit while its processes end', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { queue, run, ended, log, status } = await aQueue({ endsWhenStopped: false })
    await vi.advanceTimersByTimeAsync(59_000)
    expect(status()).toBe('RUNNING')
    queue.cancel(run.runId)
    await vi.advanceTimersByTimeAsync(2000)
    ended.resolve({ status: 'INTERRUPTED', testCases: [] })
    await vi.advanceTimersByTimeAsync(0)
    expect([status(), log.join('\n')]).toEqual(['CANCELLED', expect.not.stringContaining('limit')])
  })

  it('counts the outcome of tests that ended before the limit, if the limit stops a fix', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { run, ended, log, status } = await aQueue({ endsWhenStopped: false })
    await vi.advanceTimersByTimeAsync(61_000)
    expect(log.join('\n')).toContain('exceeded its limit')
    ended.resolve({ status: 'FAILED', testCases: [] })
    await vi.advanceTimersByTimeAsync(0)
    expect([status(), run.phase]).toMatchObject(['FAILED', { message: undefined }])
  })

  it('tells clients the outcome of a run that it cannot save', async () => {
    const { queue, run, disk, ended, log, status, saved } = await aQueue()
    disk.isFull = true
    ended.resolve(PASSED)
    await until(() => log.join().includes('could not be saved, and is INTERRUPTED after a restart: database or disk'))
    expect([status(), saved()?.status]).toEqual(['PASSED', 'RUNNING'])
    expect(queue.cancel(run.runId)).toBe(false)
  })
})

/** Linux lets root alone mount a small disk. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0

it.runIf(canMount)('a full disk is named by the results of a run, and by the refusal of the next run', async () => {
  const [home, disk] = [await temporaryFolder(), await temporaryFolder()]
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', disk])
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
  const [config, data, filler] = [join(home, 'config.json'), join(disk, 'data'), join(disk, 'filler')]
  const command = ['sh', '-c', 'cat /dev/zero > "$FILLER" 2> /dev/null; exit 1']
  const projects = { shop: { folder: home, framework: 'vitest', command } }
  await writeFiles(home, { 'config.json': JSON.stringify({ projects }) })
  const client = await startServiceProcess({ config, data, env: { FILLER: filler } }).ready()
  expect(await client.waitFor(await client.startRun())).toMatchObject({
    status: 'INTERRUPTED',
    message: 'there was no room on the disk',
  })
  const error = `Nothing was started. Cannot use the data folder ${data}: database or disk is full. Choose another folder with --data.`
  expect(await client.start()).toEqual({ status: 500, body: { error } })
})
