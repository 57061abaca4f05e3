import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writeFiles } from '../../test/support/git-repository.ts'
import { openDataFolder } from '../src/runs/data-folder.ts'
import { finishRun, markRunning, type OwnedRun, queueRun, type RunOutcome } from '../src/runs/run.ts'
import { RunQueue } from '../src/runs/run-queue.ts'
import { openRunStore, type RunStore } from '../src/runs/run-store.ts'
import { KEY, puppet, startPuppetService, startServiceProcess, temporaryFolder, until } from './a-local-service.ts'

const RESOURCES = {
  runFolder: '/runs/1',
  outputFolder: '/runs/1/output',
  temporaryFolder: '/tmp/1',
  testsTemporaryFolder: '/tmp/1/tmp',
  tree: '/trees/1',
}
function openStore(folder: string | undefined): RunStore {
  const store = openRunStore(folder)
  onTestFinished(() => {
    try {
      store.close()
    } catch {
      // The test has closed it.
    }
  })
  return store
}

function addRun(store: RunStore): OwnedRun {
  const run = queueRun({ projectId: 'shop' })
  store.add(run, RESOURCES)
  return run
}

function addFinished(store: RunStore, finishedAt: Date, title = 'adds'): OwnedRun {
  const run = addRun(store)
  finishRun(run, { status: 'PASSED', testCases: [{ title, status: 'PASSED', durationMs: 3 }] }, finishedAt)
  store.save(run)
  return run
}

describe('the store of runs', () => {
  it('has every phase of a run after it is opened again', async () => {
    const folder = await temporaryFolder()
    const store = openStore(folder)
    const runs = [addRun(store), addFinished(store, new Date())]
    const running = queueRun({ projectId: 'shop', branchName: 'main', suite: { id: 'smoke', name: 'Smoke' } })
    store.add(running, RESOURCES)
    markRunning(running, new Date())
    store.save(running)
    const failed = addRun(store)
    const place = { message: 'Error: two\nlines', filePath: 'a.test.ts', line: 7 }
    const testCases = [{ title: 'adds', status: 'FAILED', durationMs: 3, ...place } as const]
    finishRun(failed, { status: 'FAILED', testCases, message: 'it failed' }, new Date())
    store.save(failed)
    store.close()

    const again = openStore(folder)
    for (const run of [...runs, running, failed]) expect(again.find(run.runId)).toEqual(run)
    expect(again.find(failed.runId)?.phase).toMatchObject({ message: 'it failed', testCases: [place] })
    expect(again.find('another')).toBeUndefined()
    expect(again.findLeft().map(({ run }) => run)).toEqual([runs[0], running])
  })

  it('lists a run as left until its resources are removed', () => {
    const store = openStore(undefined)
    const run = addRun(store)
    markRunning(run, new Date())
    store.save(run)
    finishRun(run, { status: 'FAILED', testCases: [] }, new Date())
    store.save(run)
    expect(store.findLeft()).toEqual([{ run, resources: RESOURCES }])
    store.forget(0, new Date(Date.now() + 1000))
    expect(store.find(run.runId)).toEqual(run)
    store.markRemoved(run.runId)
    expect(store.findLeft()).toEqual([])
  })

  it('forgets the oldest finished runs beyond a number, and those that finished before a moment', () => {
    const store = openStore(undefined)
    const unfinished = addRun(store)
    const runs = [1, 2, 3, 4].map((day) => addFinished(store, new Date(`2026-01-0${day}`)))
    const kept = () => runs.map(({ runId }) => store.find(runId) !== undefined)
    store.forget(3, new Date('2025-01-01'))
    expect(kept()).toEqual([false, true, true, true])
    store.forget(3, new Date('2026-01-03T12:00:00Z'))
    expect(kept()).toEqual([false, false, false, true])
    expect(store.find(unfinished.runId)).toBeDefined()
  })

  it('is opened by one service at a time', async () => {
    const folder = await temporaryFolder()
    openStore(folder)
    expect(() => openDataFolder(folder, folder, [])).toThrow(
      `Another service uses the data folder ${folder}. Stop it, or choose`,
    )
  })

  it('is opened if the first version wrote it, with its runs', async () => {
    const folder = await temporaryFolder()
    const store = openStore(folder)
    const run = addFinished(store, new Date())
    store.close()
    const database = new DatabaseSync(join(folder, 'runs.sqlite'))
    database.exec('alter table runs drop column message; pragma user_version = 1')
    database.close()

    const opened = openStore(folder)
    expect(opened.find(run.runId)).toEqual(run)
    const later = addRun(opened)
    finishRun(later, { status: 'FAILED', testCases: [], message: 'it failed' }, new Date())
    opened.save(later)
    opened.close()
    expect(openStore(folder).find(later.runId)?.phase).toMatchObject({ message: 'it failed' })
  })

  it('is not opened if a newer version wrote it', async () => {
    const folder = await temporaryFolder()
    openStore(folder).close()
    const database = new DatabaseSync(join(folder, 'runs.sqlite'))
    database.exec('pragma user_version = 99')
    database.close()
    expect(() => openDataFolder(folder, folder, [])).toThrow(
      `A newer version of the service wrote the data folder ${folder}.`,
    )
  })
})

describe('a damaged database', () => {
  it('is found at the start, by a page in its middle too, with a sentence that says what to do', async () => {
    const folder = await temporaryFolder()
    const store = openStore(folder)
    for (let run = 0; run < 100; run++) addFinished(store, new Date(), 'a title '.repeat(500))
    store.close()
    const file = join(folder, 'runs.sqlite')
    const pages = statSync(file).size / 4096
    const damaged = openSync(file, 'r+')
    writeSync(damaged, Buffer.alloc(4096, 'x'), 0, 4096, Math.floor(pages / 2) * 4096)
    closeSync(damaged)
    expect(() => openDataFolder(folder, folder, [])).toThrow(
      new RegExp(
        `^The database in the data folder ${folder} is damaged: .+\\. Move ${file}\\* away to start without the runs in it, or`,
      ),
    )
  })

  it('is found if it is none', async () => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { 'runs.sqlite': 'x'.repeat(5000) })
    expect(() => openDataFolder(folder, folder, [])).toThrow('is damaged: file is not a database. Move ')
  })
})

describe('a service with a data folder', () => {
  it('knows its finished runs after a restart, also those of a suite that is gone from the settings', async () => {
    const data = join(await temporaryFolder(), 'data')
    const first = await startPuppetService({ data, suites: { smoke: { project: 'web-shop', name: 'Smoke test' } } })
    const runId = await first.startRun(puppet({}))
    const run = await first.waitFor(runId)
    const { testSuiteRunId } = (await first.send('POST', '/v1/testSuite/smoke/run')).body
    const suiteRun = `/v1/testSuiteRun/${testSuiteRunId}`
    while ((await first.send('GET', `${suiteRun}/status`)).body.status === 'RUNNING');
    const result = await first.send('GET', `${suiteRun}/result`)
    await first.close()

    const second = await startPuppetService({ data })
    expect((await second.get(runId)).body).toEqual(run)
    expect(await second.send('GET', `${suiteRun}/result`)).toEqual(result)
    expect((await second.get(testSuiteRunId)).status).toBe(404)
  })

  it('keeps it from other users, and the values of variables out of it', async () => {
    const data = join(await temporaryFolder(), 'data')
    const service = await startPuppetService({ data })
    await service.waitFor(await service.startRun({ envOverrides: { TOKEN: 'a-secret-value' } }))
    await service.close()
    expect(statSync(data).mode & 0o777).toBe(0o700)
    // Also in a folder that others can enter.
    expect(statSync(join(data, 'runs.sqlite')).mode & 0o777).toBe(0o600)
    const written = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const text = written.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join()
    expect(text).toContain('web-shop')
    expect(text).not.toContain('a-secret-value')
  })

  it('keeps as many runs as the settings say', async () => {
    const service = await startPuppetService({ keepRuns: 2 })
    const runIds: string[] = []
    for (const _ of [1, 2, 3]) {
      runIds.push(await service.startRun(puppet({})))
      await service.waitFor(runIds.at(-1) ?? '')
    }
    const statuses = await Promise.all(runIds.map(async (runId) => (await service.get(runId)).status))
    expect(statuses).toEqual([404, 200, 200])
  })
})

/** A queue with one run, and a store that can save nothing while `isFull`. */
async function aQueue(finishesWhenSettled: boolean, { endsWhenStopped = true } = {}) {
  const store = openStore(undefined)
  const disk = { isFull: false }
  const log: string[] = []
  const save: RunStore['save'] = (run) => {
    if (disk.isFull) throw new Error('database or disk is full')
    store.save(run)
  }
  const queue = new RunQueue({
    concurrency: 1,
    runLimitMs: 60_000,
    keepRuns: 10,
    keepMs: 60_000,
    store: { ...store, save },
    removeResources: async () => [],
    log: (_runId, text) => log.push(text),
  })
  const run = queueRun({ projectId: 'shop' })
  const ended = Promise.withResolvers<RunOutcome>()
  const execute = (stop: AbortSignal) => {
    const end = () => ended.resolve({ status: 'INTERRUPTED', testCases: [] })
    if (endsWhenStopped) stop.addEventListener('abort', end)
    return ended.promise
  }
  queue.add(run, { resources: RESOURCES, finishesWhenSettled, execute })
  const status = () => queue.find(run.runId)?.phase.status
  return { queue, run, disk, ended, log, status, savedStatus: () => store.find(run.runId)?.phase.status }
}

describe('a queue of runs', () => {
  it.each([
    false,
    true,
  ])('says that it was stopped with the service, if the run has a container: %s', async (finishesWhenSettled) => {
    const { queue, run } = await aQueue(finishesWhenSettled)
    await queue.close()
    expect(run.phase).toMatchObject({ status: 'INTERRUPTED', message: 'the service was stopped', testCases: [] })
  })

  it('cancels a run that is still QUEUED at once, although its project has a container', async () => {
    const { queue, ended } = await aQueue(true)
    const queued = queueRun({ projectId: 'shop' })
    const begun: string[] = []
    const execute = async () => {
      begun.push(queued.runId)
      return { status: 'PASSED', testCases: [] } as const
    }
    queue.add(queued, { resources: RESOURCES, finishesWhenSettled: true, execute })
    expect(queue.cancel(queued.runId)).toBe('cancelled')
    expect(queued.phase).toMatchObject({ status: 'CANCELLED', startedAt: null })
    ended.resolve({ status: 'PASSED', testCases: [] })
    await queue.close()
    expect(begun).toEqual([])
  })

  it('does not say that a cancelled run exceeded its limit while its processes end', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { queue, run, ended, log, status } = await aQueue(true, { endsWhenStopped: false })
    await vi.advanceTimersByTimeAsync(59_000)
    expect(status()).toBe('RUNNING')
    queue.cancel(run.runId)
    await vi.advanceTimersByTimeAsync(2000)
    ended.resolve({ status: 'INTERRUPTED', testCases: [] })
    await vi.advanceTimersByTimeAsync(0)
    expect([status(), log.join('\n')]).toEqual(['CANCELLED', expect.not.stringContaining('limit')])
  })

  it('does not stop the auto-fix of a finished run at the limit of the run', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { queue, ended, log } = await aQueue(false)
    const fixed = queueRun({ projectId: 'shop' })
    const outcome: RunOutcome = { status: 'FAILED', testCases: [] }
    const fixing = Promise.withResolvers<RunOutcome>()
    let stopped: AbortSignal | undefined
    const execute = (stop: AbortSignal, finishEarly: (early: RunOutcome) => void) => {
      stopped = stop
      finishEarly(outcome)
      return fixing.promise
    }
    queue.add(fixed, { resources: RESOURCES, finishesWhenSettled: false, execute })
    ended.resolve({ status: 'PASSED', testCases: [] })
    await vi.advanceTimersByTimeAsync(61_000)
    expect([queue.find(fixed.runId)?.phase.status, stopped?.aborted]).toEqual(['FAILED', false])
    expect(log.join('\n')).not.toContain('limit')
    fixing.resolve(outcome)
    await queue.close()
  })
})

describe('a full disk', () => {
  it('hides no outcome from clients, and it is saved as soon as there is room', async () => {
    const { queue, run, disk, ended, log, status, savedStatus } = await aQueue(false)
    disk.isFull = true
    ended.resolve({ status: 'PASSED', testCases: [] })
    await until(() => log.includes('could not be saved: database or disk is full'))
    expect([status(), savedStatus()]).toEqual(['PASSED', 'RUNNING'])
    expect(queue.cancel(run.runId)).toBe('finished')
    disk.isFull = false
    await until(() => log.includes('is saved now'))
    expect([status(), savedStatus()]).toEqual(['PASSED', 'PASSED'])
  })

  it.each([
    true,
    false,
  ])('keeps no run from being cancelled, if it has a container: %s', async (finishesWhenSettled) => {
    const { queue, run, disk, status } = await aQueue(finishesWhenSettled)
    disk.isFull = true
    expect(queue.cancel(run.runId)).toBe('cancelled')
    await until(() => status() === 'CANCELLED')
  })

  it('loses no outcome when the service stops and there is room again, and else the log says so', async () => {
    for (const isFull of [false, true]) {
      const { queue, disk, ended, log, status, savedStatus } = await aQueue(false)
      disk.isFull = true
      ended.resolve({ status: 'FAILED', testCases: [] })
      await until(() => status() === 'FAILED')
      disk.isFull = isFull
      await queue.close()
      expect(savedStatus()).toBe(isFull ? 'RUNNING' : 'FAILED')
      expect(log.includes('is not saved, and INTERRUPTED after a restart')).toBe(isFull)
    }
  })
})

/** Linux lets root alone mount a small disk. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe.runIf(canMount)('a service whose disk really is full (needs Linux and root)', () => {
  /** A service whose runner can fill its disk. */
  async function onSmallDisk(script: string) {
    const [home, disk] = [await temporaryFolder(), await temporaryFolder()]
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', disk])
    onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
    const [config, data, filler] = [join(home, 'config.json'), join(disk, 'data'), join(disk, 'filler')]
    const fill = 'cat /dev/zero > "$FILLER" 2> /dev/null'
    const projects = { shop: { folder: home, framework: 'vitest', command: ['sh', '-c', script, fill] } }
    await writeFiles(home, { 'config.json': JSON.stringify({ keys: [KEY], projects }) })
    return { data, filler, startProcess: () => startServiceProcess({ config, data, env: { FILLER: filler } }) }
  }

  it('says so in the results of a run that could not write its report', async () => {
    const { startProcess } = await onSmallDisk('eval "$0"; exit 1')
    const client = await startProcess().ready()
    expect(await client.waitFor(await client.startRun())).toMatchObject({
      status: 'INTERRUPTED',
      message: 'there was no room on the disk',
      results: { testCases: [] },
    })
  })

  it('responds to a start with a sentence, ends with one, and forgets no result', async () => {
    const report = '{"event":"finished","tests":[{"path":["adds"],"state":"passed"}]}'
    const script = `echo '${report}' > "$LOCAL_SERVICE_REPORT_FILE"; eval "$0"; exit 0`
    const { data, filler, startProcess } = await onSmallDisk(script)
    const first = startProcess()
    const client = await first.ready()
    const runId = await client.startRun()
    const run = await client.waitFor(runId)
    expect(run.status).toBe('PASSED')
    const noRoom = `There is no room on the disk for the data folder ${data}. Free some space, or choose another data folder.`
    expect(await client.start()).toEqual({ status: 500, body: { error: `Nothing was started. ${noRoom}` } })
    await first.kill()

    const failed: Error = await startProcess()
      .ready()
      .then(
        () => new Error('It started.'),
        (error) => error,
      )
    expect(failed.message).toContain(noRoom)
    expect(failed.message).not.toContain('    at ')

    rmSync(filler)
    expect((await (await startProcess().ready()).get(runId)).body).toEqual(run)
  })
})
