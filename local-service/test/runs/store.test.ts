import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finishRun, markRunning, queueRun } from '../../src/runs/run.ts'
import { openRunStore } from '../../src/runs/store.ts'
import { temporaryFolder } from '../support/a-local-service.ts'
import { LEFT, openStore, PASSED, RESOURCES } from '../support/a-run-store.ts'

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
    expect(again.findUnfinished()).toEqual([{ run: queued }, { run: running }])
    again.close()
  })

  it('lists a finished run as left until its resources are removed', async () => {
    const store = await openStore()
    const run = queueRun({ projectId: 'shop' })
    finishRun(run, PASSED)
    store.save(run, RESOURCES)
    expect(store.findUnfinished()).toEqual([{ run, left: LEFT }])
    store.save(run)
    expect(store.findUnfinished()).toEqual([])
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

  it('has of a finished run what a client has read', async () => {
    const store = await openStore()
    const [passed, failed, running] = [1, 2, 3].map((run) => queueRun({ projectId: `shop ${run}` }))
    if (!passed || !failed || !running) throw new Error('There are three runs.')
    finishRun(passed, PASSED)
    finishRun(failed, { status: 'FAILED', testCases: [], message: 'it failed' })
    markRunning(running)
    for (const run of [passed, failed, running]) store.save(run)
    store.markShown(passed.runId, 20)
    store.markShown(passed.runId, 10)
    // What a client has read stays when the run is saved again.
    store.save(passed)
    expect(store.findFinished()).toEqual([
      { runId: passed.runId, projectId: 'shop 1', status: 'PASSED', message: undefined, shownBytes: 20 },
      { runId: failed.runId, projectId: 'shop 2', status: 'FAILED', message: 'it failed', shownBytes: 0 },
    ])
  })

  it('takes no program, no id and no type from what somebody else has written to it', async () => {
    const store = await openStore()
    const [run, other] = [queueRun({ projectId: 'shop' }), queueRun({ projectId: 'shop' })]
    store.close()
    const database = new DatabaseSync(join(store.folder, 'runs.sqlite'))
    const insert = database.prepare('insert into runs (run_id, is_finished, run, resources) values (?, 0, ?, ?)')
    insert.run(run.runId, JSON.stringify(run), '{ "engine": "./program", "gitFolder": 7, "folder": "/" }')
    insert.run(other.runId, JSON.stringify(run), '{}')
    insert.run('../a', JSON.stringify({ ...run, runId: '../a' }), '{}')
    insert.run('b', '5', '{}')
    insert.run('c', 'no JSON', '{}')
    database.close()
    const again = openRunStore(store.folder)
    onTestFinished(() => again.close())
    expect(again.findUnfinished()).toEqual([{ run, left: {} }])
  })

  it('lists texts and numbers, whatever somebody else has written to it', async () => {
    const store = await openStore()
    store.close()
    const [first, second] = [randomUUID(), randomUUID()]
    const database = new DatabaseSync(join(store.folder, 'runs.sqlite'))
    const insert = database.prepare('insert into runs (run_id, is_finished, run, shown_bytes) values (?, 1, ?, -5)')
    insert.run('../a', '{}')
    insert.run(first, '{ "projectId": { "toString": 0 }, "phase": { "status": [], "message": 7 } }')
    insert.run(second, '5')
    database.close()
    const again = openRunStore(store.folder)
    onTestFinished(() => again.close())
    expect(again.findFinished()).toEqual([
      expect.objectContaining({ runId: first, projectId: '{"toString":0}', status: '[]', message: '7' }),
      expect.objectContaining({ runId: second, projectId: 'null', status: 'null', message: undefined }),
    ])
  })

  it.each([
    ['a link', (file: string) => symlinkSync('/dev/zero', file)],
    ['a named pipe', (file: string) => execFileSync('mkfifo', [file])],
    ['a folder', (file: string) => mkdirSync(file)],
    ['no database', (file: string) => writeFileSync(file, 'x'.repeat(5000))],
  ])('is not opened, and blocks nothing, if its file is %s', async (_what, make) => {
    const folder = temporaryFolder()
    make(join(folder, 'runs.sqlite'))
    expect(() => openRunStore(folder)).toThrow()
  })

  it.each([
    'runs.sqlite-wal',
    'runs.sqlite-journal',
    'runs.sqlite-shm',
  ])('is not opened, and blocks nothing, if its file %s is a named pipe', async (name) => {
    const store = await openStore()
    store.close()
    execFileSync('mkfifo', [join(store.folder, name)])
    expect(() => openRunStore(store.folder)).toThrow(`${name} is not a regular file`)
  })
})
