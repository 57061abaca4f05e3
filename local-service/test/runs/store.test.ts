import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { resourcesOf } from '../../src/execution/resources.ts'
import { recoverRuns } from '../../src/runs/recovery.ts'
import { createRun, finishRun, markRunning, type Run } from '../../src/runs/run.ts'
import { openRunStore } from '../../src/runs/store.ts'
import { ConfigurationError } from '../../src/settings/project.ts'
import { PLAIN_ENV, temporaryFolder } from '../support/a-local-service.ts'
import { openStore, PASSED, RESOURCES } from '../support/a-run-store.ts'

const threeRuns = () =>
  [1, 2, 3].map((run) => createRun({ projectId: `shop ${run}`, branchName: 'main' })) as [Run, Run, Run]

describe('the store of runs', () => {
  it('has every phase of a run after it is opened again', async () => {
    const store = await openStore()
    const [queued, running] = threeRuns()
    const failed = createRun({ projectId: 'shop', suite: 'Smoke test' })
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
    expect(again.findToRecover()).toEqual([{ run: queued }, { run: running }])
    again.close()
  })

  it('lists a finished run as left until its resources are removed', async () => {
    const store = await openStore()
    const run = createRun({ projectId: 'shop' })
    finishRun(run, PASSED)
    store.save(run, RESOURCES)
    expect(store.findToRecover()).toEqual([{ run, engine: 'podman' }])
    store.save(run)
    expect(store.findToRecover()).toEqual([])
  })

  it('lists a run as left if its engine has arguments, because nobody can look for its containers', async () => {
    const store = await openStore()
    const engine = ['podman', '--root', '/images']
    const run = createRun({ projectId: 'shop' })
    finishRun(run, PASSED)
    const resources = resourcesOf(run.runId, store.folder, engine)
    store.save(run, resources)
    const log: string[] = []
    const logError = (text: string) => void log.push(text)
    await recoverRuns({ store, serviceEnv: PLAIN_ENV, log: logError, logError })
    expect(log).toEqual([
      expect.stringContaining('a container may be left, because the service that started the run remembered'),
    ])
    expect(store.findToRecover()).toHaveLength(1)
  })

  it('interrupts what a dead service left, and says whether the run had started', async () => {
    const store = await openStore()
    const [queued, running] = threeRuns()
    markRunning(running)
    for (const run of [queued, running]) store.save(run)
    await recoverRuns({ store, serviceEnv: PLAIN_ENV, log: () => undefined, logError: expect.unreachable })
    const ends = [queued, running].map(({ runId }) => store.find(runId)?.phase)
    expect(ends).toMatchObject([
      { status: 'INTERRUPTED', message: 'the service died before the run started', startedAt: null },
      { status: 'INTERRUPTED', message: 'the service died during the run', startedAt: expect.any(String) },
    ])
  })

  it('says once that a container of an unknown engine may be left', async () => {
    const store = await openStore()
    const [run] = threeRuns()
    markRunning(run)
    store.save(run, resourcesOf(run.runId, store.folder, ['podman', '--root', '/images']))
    const errors: string[] = []
    const recover = () =>
      recoverRuns({ store, serviceEnv: PLAIN_ENV, log: () => undefined, logError: (text) => errors.push(text) })
    await recover()
    await recover()
    expect(errors).toEqual([expect.stringContaining(`--filter label=test-run-service.run=${run.runId}`)])
    expect(store.findToRecover()).toEqual([])
  })

  it('forgets the oldest finished runs when it is opened', async () => {
    const store = await openStore()
    const unfinished = createRun({ projectId: 'shop' })
    store.save(unfinished)
    const runs = Array.from({ length: 1002 }, () => createRun({ projectId: 'shop' }))
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

  it('has of a finished run what a client has read', async () => {
    const store = await openStore()
    const [passed, failed, running] = threeRuns()
    finishRun(passed, PASSED)
    finishRun(failed, { status: 'FAILED', testCases: [], message: 'it failed' })
    markRunning(running)
    for (const run of [passed, failed, running]) store.save(run)
    // The second part is read once more, and a part behind a gap does not count.
    for (const [from, next] of [
      [0, 10],
      [10, 20],
      [5, 15],
      [21, 30],
    ] as const)
      store.markShown(passed.runId, from, next)
    // What a client has read stays when the run is saved again.
    store.save(passed)
    expect(store.findFinished()).toEqual([
      { runId: passed.runId, projectId: 'shop 1', status: 'PASSED', message: '', shownBytes: 20 },
      { runId: failed.runId, projectId: 'shop 2', status: 'FAILED', message: 'it failed', shownBytes: 0 },
    ])
  })

  /** A store with what somebody else has written to it. */
  async function openForged(columns: string, rows: readonly (readonly string[])[]) {
    const store = await openStore()
    store.close()
    const database = new DatabaseSync(join(store.folder, 'runs.sqlite'))
    const insert = database.prepare(`insert into runs (${columns}) values (${columns.replace(/\w+/g, '?')})`)
    for (const row of rows) insert.run(...row)
    database.close()
    const forged = openRunStore(store.folder)
    onTestFinished(() => forged.close())
    return forged
  }

  it('takes no program, no id and no type from what somebody else has written to it', async () => {
    const [run, other] = threeRuns()
    const forged = await openForged('run_id, run, resources, is_finished', [
      [run.runId, JSON.stringify(run), './podman', '0'],
      [other.runId, JSON.stringify(run), '{}', '0'],
      ['../a', JSON.stringify({ ...run, runId: '../a' }), '{}', '0'],
      ['b', '5', '{}', '0'],
      ['c', 'no JSON', '{}', '0'],
    ])
    expect(forged.findToRecover()).toEqual([{ run, engine: 'unknown' }, ...Array(4)])
  })

  it('lists texts and numbers, whatever somebody else has written to it', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    const forged = await openForged('run_id, run, is_finished, shown_bytes', [
      ['../a', '{}', '1', '-5'],
      [first, '{ "projectId": { "toString": 0 }, "phase": { "status": [], "message": 7 } }', '1', '-5'],
      [second, '5', '1', '-5'],
    ])
    expect(forged.findFinished()).toEqual([
      expect.objectContaining({ runId: first, projectId: '{"toString":0}', status: '[]', message: '7' }),
      expect.objectContaining({ runId: second, projectId: 'null', status: 'null', message: '' }),
    ])
  })

  const pipe = (name: string) => (folder: string) => execFileSync('mkfifo', [join(folder, name)])

  it.each<[string, (folder: string) => unknown]>([
    ['another service uses it', (folder) => onTestFinished(openRunStore(folder).close)],
    ['its file is a link', (folder) => symlinkSync('/dev/zero', join(folder, 'runs.sqlite'))],
    ['its file is a folder', (folder) => mkdirSync(join(folder, 'runs.sqlite'))],
    ['its file is no database', (folder) => writeFileSync(join(folder, 'runs.sqlite'), 'x'.repeat(5000))],
    ['its file is a named pipe', pipe('runs.sqlite')],
    ['a file beside it is a named pipe: -wal', pipe('runs.sqlite-wal')],
    ['a file beside it is a named pipe: -journal', pipe('runs.sqlite-journal')],
    ['a file beside it is a named pipe: -shm', pipe('runs.sqlite-shm')],
  ])('is not opened, and blocks nothing, if %s', (_, make) => {
    const folder = temporaryFolder()
    make(folder)
    const message = expect.stringContaining(`Cannot use the data folder ${folder}: `)
    expect(() => openRunStore(folder)).toThrow(expect.objectContaining({ constructor: ConfigurationError, message }))
  })
})
