import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { finishRun, markRunning, queueRun } from '../../src/runs/run.ts'
import { openRunStore, refuseDataFolderIn } from '../../src/runs/store.ts'
import { temporaryFolder } from '../support/a-local-service.ts'
import { openStore, PASSED, RESOURCES } from '../support/a-run-store.ts'

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
