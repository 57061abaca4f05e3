import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finishRun, type OwnedRun, queueRun, startRun } from '../src/run.ts'
import { createRunQueue } from '../src/run-queue.ts'
import { openRunStore, type RunStore } from '../src/run-store.ts'
import { puppet, puppetProject, startPuppetService, temporaryFolder, until } from './a-local-service.ts'

const RESOURCES = { runFolder: '/runs/1', temporaryFolder: '/tmp/1' }
const REQUEST = {
  frameworkProjects: ['unit'],
  files: [],
  environment: 'staging',
  commit: undefined,
  autofix: false,
  overriddenVariables: ['TOKEN'],
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
  store.add(run, REQUEST, RESOURCES)
  return run
}

function addFinished(store: RunStore, finishedAt: Date): OwnedRun {
  const run = addRun(store)
  finishRun(run, { status: 'PASSED', testCases: [{ title: 'adds', status: 'PASSED', durationMs: 3 }] }, finishedAt)
  store.save(run)
  return run
}

describe('the store of runs', () => {
  it('has every phase of a run after it is opened again', async () => {
    const folder = await temporaryFolder()
    const store = openStore(folder)
    const runs = [addRun(store), addFinished(store, new Date())]
    const running = queueRun({ projectId: 'shop', branchName: 'main', suite: { id: 'smoke', name: 'Smoke' } })
    store.add(running, REQUEST, RESOURCES)
    startRun(running, new Date())
    store.save(running)
    store.close()

    const again = openStore(folder)
    for (const run of [...runs, running]) expect(again.find(run.runId)).toEqual(run)
    expect(again.find('another')).toBeUndefined()
    expect(again.findLeft().map(({ run }) => run)).toEqual([runs[0], running])
  })

  it('lists a run as left until its resources are removed', () => {
    const store = openStore(undefined)
    const run = addRun(store)
    startRun(run, new Date())
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
    expect(() => openRunStore(folder)).toThrow(`Another service uses the data folder ${folder}. Stop it, or choose`)
  })

  it('is not opened if a newer version wrote it', async () => {
    const folder = await temporaryFolder()
    openStore(folder).close()
    const database = new DatabaseSync(join(folder, 'runs.sqlite'))
    database.exec('pragma user_version = 99')
    database.close()
    expect(() => openRunStore(folder)).toThrow(`A newer version of the service wrote the data folder ${folder}.`)
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
    const written = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const text = written.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join()
    expect(text).toContain('TOKEN')
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

  it('refuses a folder that another service uses with a sentence', async () => {
    const data = join(await temporaryFolder(), 'data')
    await startPuppetService({ data })
    await expect(startPuppetService({ data, projects: { shop: puppetProject() } })).rejects.toThrow(
      `Another service uses the data folder ${data}.`,
    )
  })
})

describe('a run that cannot be saved', () => {
  it('still has its outcome for its clients, and the log says why', async () => {
    const full = () => {
      throw new Error('database or disk is full')
    }
    const store = openStore(undefined)
    const log: string[] = []
    const queue = createRunQueue({
      slots: 1,
      runLimitMs: 60_000,
      keepRuns: 10,
      keepMs: 60_000,
      store: { ...store, save: (run) => (run.phase.status === 'RUNNING' ? store.save(run) : full()) },
      removeResources: async () => [],
      log: (_runId, text) => log.push(text),
    })
    const run = queueRun({ projectId: 'shop' })
    const execute = async () => ({ status: 'PASSED', testCases: [] }) as const
    queue.add(run, { request: REQUEST, resources: RESOURCES, finishesWhenGone: false, execute })
    await until(() => log.includes('could not be saved: database or disk is full'))
    await queue.close()
    expect(queue.find(run.runId)?.phase.status).toBe('PASSED')
    expect(queue.cancel(run.runId)).toBe('finished')
  })
})
