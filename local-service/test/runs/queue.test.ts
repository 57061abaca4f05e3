import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { RunningTests } from '../../src/execution/execute.ts'
import type { RunOutcome } from '../../src/execution/outcome.ts'
import { type RunResources, resourcesOf } from '../../src/execution/resources.ts'
import { createRun } from '../../src/runs/run.ts'
import type { RunStore } from '../../src/runs/store.ts'
import { temporaryFolder, until } from '../support/a-local-service.ts'
import { createQueue, openStore, PASSED } from '../support/a-run-store.ts'

/** A run that leaves nothing on the machine. */
const NOTHING = resourcesOf('1', '/none')

interface Task {
  readonly folder?: string
  readonly resources?: RunResources
  readonly endsWhenStopped?: boolean
  readonly onBegin?: () => void
  readonly tests?: Partial<RunningTests>
}

/** A queue whose runs end when the test says so. The next saves of its store fail, as often as `disk.failures` says. */
async function aQueue({ endWaitMs = 0 } = {}) {
  const store = await openStore()
  const disk = { failures: 0 }
  const [log, begun, saves]: [string[], string[], string[]] = [[], [], []]
  const save: RunStore['save'] = (run, resources) => {
    if (disk.failures-- > 0) throw new Error('database or disk is full')
    saves.push(`${run.phase.status}${resources === undefined ? '' : ' with resources'}`)
    store.save(run, resources)
  }
  const queue = createQueue({ ...store, save }, log, endWaitMs)
  const add = (projectId: string, task: Task = {}) => {
    const run = createRun({ projectId })
    const { folder = run.runId, resources = NOTHING, endsWhenStopped = true, onBegin, tests } = task
    const ended = Promise.withResolvers<RunOutcome>()
    const execute = (stop: AbortSignal, onTests: (tests: RunningTests) => void) => {
      begun.push(projectId)
      onBegin?.()
      if (tests !== undefined) onTests({ progress: () => undefined, testCases: async () => PASSED.testCases, ...tests })
      if (endsWhenStopped) stop.addEventListener('abort', () => ended.resolve({ ...stop.reason, testCases: [] }))
      return ended.promise
    }
    queue.add(run, { folder, resources, execute })
    const status = () => queue.find(run.runId)?.phase.status
    const saved = () => store.find(run.runId)?.phase
    const cancel = () => queue.stop(run.runId, { status: 'CANCELLED' })
    return { run, ended, status, saved, cancel }
  }
  return { queue, add, disk, log, begun, saves }
}

describe('a queue of runs', () => {
  it('has in its store what it says, and what a run may have left, until it is removed', async () => {
    const { queue, add, saves } = await aQueue()
    const { run, ended, status, saved, cancel } = add('shop', { endsWhenStopped: false })
    expect([status(), saved()]).toEqual(['RUNNING', run.phase])
    expect(await cancel()).toBe(true)
    expect([status(), saved()]).toEqual(['CANCELLED', expect.objectContaining({ status: 'CANCELLED', testCases: [] })])
    ended.resolve(PASSED)
    await queue.close()
    expect(saved()?.status).toBe('CANCELLED')
    expect(saves).toEqual(['QUEUED', 'RUNNING with resources', 'CANCELLED with resources', 'CANCELLED'])
  })

  it('forgets a run that is over, and reads it from the store', async () => {
    const { queue, add } = await aQueue()
    const { run, ended } = add('shop')
    expect(queue.find(run.runId)).toBe(run)
    ended.resolve(PASSED)
    await until(() => queue.find(run.runId) !== run)
    expect(queue.find(run.runId)).toEqual(run)
  })

  it('keeps in its store what it could not remove', async () => {
    const folder = temporaryFolder()
    symlinkSync(temporaryFolder(), join(folder, 'runs'))
    const { queue, add, log, saves } = await aQueue()
    const { ended, status } = add('shop', { resources: resourcesOf('left', folder) })
    ended.resolve(PASSED)
    await until(() => status() === 'PASSED')
    await queue.close()
    expect(log.join('\n')).toContain('could not remove everything that it left: a link has replaced a part of')
    expect(saves.at(-1)).toBe('PASSED with resources')
  })

  it('refuses a run that cannot be saved', async () => {
    const { add, disk, begun } = await aQueue()
    disk.failures = 1
    const message = 'The run was not started, because it could not be saved: database or disk is full.'
    expect(() => add('shop')).toThrow(expect.objectContaining({ status: 500, message }))
    expect(begun).toEqual([])
  })

  it('interrupts a run that the service cannot run, and says why', async () => {
    const { add } = await aQueue()
    const { ended, status, saved } = add('shop')
    ended.reject(new Error('no space left'))
    await until(() => status() === 'INTERRUPTED')
    const message = 'the service could not run the tests: no space left'
    expect(saved()).toMatchObject({ status: 'INTERRUPTED', message })
  })

  it('lets a client wait for the end of a run that is RUNNING, but not longer than its limit', async () => {
    const { queue, add } = await aQueue({ endWaitMs: 1 })
    const { run, status } = add('shop')
    await queue.waitForEnd(run.runId)
    expect(status()).toBe('RUNNING')
  })

  it('lets no client wait for the end of a run that is QUEUED', async () => {
    const { queue, add } = await aQueue({ endWaitMs: 1_000_000 })
    add('shop', { folder: 'shop' })
    await queue.waitForEnd(add('shop', { folder: 'shop' }).run.runId)
  })
})

describe('a cancel', () => {
  it('of a run that waits finishes the run at once, which then never starts', async () => {
    const { queue, add, begun } = await aQueue()
    const [first, second, third] = ['first', 'second', 'third'].map((name) => add(name, { folder: 'shop' }))
    expect([second?.saved(), await second?.cancel()]).toMatchObject([{ status: 'QUEUED' }, true])
    expect(second?.saved()).toMatchObject({ status: 'CANCELLED', startedAt: null, testCases: [] })
    first?.ended.resolve(PASSED)
    await until(() => begun.includes('third'))
    third?.ended.resolve(PASSED)
    await queue.close()
    expect([begun, second?.status()]).toEqual([['first', 'third'], 'CANCELLED'])
  })

  it('of a run that waits starts the runs that waited only for it', async () => {
    const { queue, add, begun } = await aQueue()
    add('inner', { folder: '/shop/cart' })
    const outer = add('outer', { folder: '/shop' })
    add('late', { folder: '/shop/search' })
    await outer.cancel()
    expect(begun).toEqual(['inner', 'late'])
    await queue.close()
  })

  it('has the test cases so far, and a second cancel changes nothing', async () => {
    const { queue, add } = await aQueue()
    const { ended, saved, cancel } = add('shop', { endsWhenStopped: false, tests: {} })
    expect([await cancel(), await cancel()]).toEqual([true, false])
    expect(saved()).toMatchObject({ status: 'CANCELLED', testCases: PASSED.testCases })
    ended.resolve(PASSED)
    await queue.close()
  })

  it('counts, also if the task ends before the test cases so far are read', async () => {
    const soFar = Promise.withResolvers<RunOutcome['testCases']>()
    const { add } = await aQueue()
    const testCases = () => soFar.promise
    const { ended, status, cancel } = add('shop', { endsWhenStopped: false, tests: { testCases } })
    const isCancelled = cancel()
    // For example, the tests have failed, and the cancel ends the fix behind them.
    ended.resolve({ ...PASSED, status: 'FAILED' })
    await ended.promise
    soFar.resolve(PASSED.testCases)
    expect([await isCancelled, status()]).toEqual([true, 'CANCELLED'])
  })

  it('counts, also if the test cases so far cannot be read', async () => {
    const { queue, add, log } = await aQueue()
    const testCases = async () => Promise.reject(new Error('no thread'))
    const { ended, saved, cancel } = add('shop', { endsWhenStopped: false, tests: { testCases } })
    expect(await cancel()).toBe(true)
    ended.reject(new Error('stopped'))
    await queue.close()
    expect(saved()).toMatchObject({ status: 'CANCELLED', testCases: [] })
    expect(log.join('\n')).toContain('the test cases so far could not be read: no thread')
  })
})

describe('the limit of a run', () => {
  async function aRunAfter(seconds: number, task?: Task) {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { add, log } = await aQueue()
    const run = add('shop', task)
    await vi.advanceTimersByTimeAsync(seconds * 1000)
    return { ...run, log }
  }

  it('stops the run', async () => {
    const { saved } = await aRunAfter(61)
    const message = 'the run exceeded its limit of 1 min. If its tests need more time, raise run-limit-minutes.'
    expect(saved()).toMatchObject({ status: 'TIMEDOUT', message })
  })

  it('is not said to be exceeded while the processes of a cancelled run end', async () => {
    const { cancel, ended, log, status } = await aRunAfter(59, { endsWhenStopped: false })
    expect(status()).toBe('RUNNING')
    await cancel()
    await vi.advanceTimersByTimeAsync(2000)
    ended.resolve({ status: 'INTERRUPTED', testCases: [] })
    await vi.advanceTimersByTimeAsync(0)
    expect([status(), log.join('\n')]).toEqual(['CANCELLED', expect.not.stringContaining('limit')])
  })

  it('changes no outcome of tests that ended before, if it stops a fix, nor does a cancel after it', async () => {
    const { run, ended, log, status, cancel } = await aRunAfter(61, { endsWhenStopped: false })
    expect(log.join('\n')).toContain('exceeded its limit')
    const isCancelled = cancel()
    ended.resolve({ status: 'FAILED', testCases: [] })
    expect(await isCancelled).toBe(false)
    expect([status(), JSON.stringify(run.phase)]).toEqual(['FAILED', expect.not.stringContaining('message')])
  })
})

describe('an outcome that cannot be saved', () => {
  it('is told to clients', async () => {
    const { queue, add, disk, log } = await aQueue()
    const { ended, status, saved, cancel } = add('shop')
    disk.failures = Number.POSITIVE_INFINITY
    ended.resolve(PASSED)
    await until(() =>
      log.join().includes('could not be saved, so its outcome may be lost after a restart: database or disk'),
    )
    await queue.close()
    expect([status(), saved()?.status]).toEqual(['PASSED', 'RUNNING'])
    expect(await cancel()).toBe(false)
  })

  it('is saved again when the files of the run are gone, because they may have filled the disk', async () => {
    const { add, disk } = await aQueue()
    const { ended, saved } = add('shop')
    disk.failures = 1
    ended.resolve(PASSED)
    await until(() => saved()?.status === 'PASSED')
  })
})

describe('runs', () => {
  it('start in their order, never more than two at once, and one at a time of the same folder', async () => {
    const { queue, add, begun } = await aQueue()
    const folders = { a: 'shop', b: 'shop', c: 'c', d: 'd', e: 'e' }
    const runs = Object.entries(folders).map(([name, folder]) => add(name, { folder }))
    const running = () => runs.filter(({ run }) => run.phase.status === 'RUNNING').map(({ run }) => run.projectId)
    const end = async (projectId: string, next: readonly string[]) => {
      runs.find(({ run }) => run.projectId === projectId)?.ended.resolve(PASSED)
      await until(() => running().join() === next.join())
    }
    expect(running()).toEqual(['a', 'c'])
    await end('c', ['a', 'd'])
    await end('a', ['b', 'd'])
    await end('b', ['d', 'e'])
    await queue.close()
    expect(begun).toEqual(['a', 'c', 'd', 'b', 'e'])
    const statuses = ['PASSED', 'PASSED', 'PASSED', 'INTERRUPTED', 'INTERRUPTED']
    expect(runs.map(({ run }) => run.phase.status)).toEqual(statuses)
  })

  it('of a folder and of a folder in it are RUNNING one after the other, in the order in which they came', async () => {
    const { queue, add, begun } = await aQueue()
    const inner = add('inner', { folder: '/shop/cart' })
    const outer = add('outer', { folder: '/shop' })
    // Otherwise, the run of the outer folder would wait as long as runs of inner folders come.
    add('late', { folder: '/shop/search' })
    add('beside', { folder: '/shop-api' })
    expect(begun).toEqual(['inner', 'beside'])
    inner.ended.resolve(PASSED)
    await until(() => outer.status() === 'RUNNING')
    outer.ended.resolve(PASSED)
    await until(() => begun.length === 4)
    await queue.close()
    expect(begun).toEqual(['inner', 'beside', 'outer', 'late'])
  })

  it('of the same folder begin when nothing is left of the one before', async () => {
    const resources = resourcesOf('of-queue', temporaryFolder())
    mkdirSync(resources.folder, { recursive: true })
    const { add } = await aQueue()
    const isLeft = Promise.withResolvers<boolean>()
    const first = add('first', { folder: 'shop', resources })
    add('second', { folder: 'shop', onBegin: () => isLeft.resolve(existsSync(resources.folder)) })
    first.ended.resolve(PASSED)
    expect(await isLeft.promise).toBe(false)
  })

  it('do not start when a close interrupts the run for which they wait', async () => {
    const { queue, add, begun } = await aQueue()
    for (const folder of ['/shop/cart', '/shop', '/shop/search']) add(folder, { folder })
    await queue.close()
    expect(begun).toEqual(['/shop/cart'])
  })

  it('are interrupted by a close, which waits for those that have begun and takes no more', async () => {
    const { queue, add, begun } = await aQueue()
    const stubborn = { folder: 'shop', endsWhenStopped: false }
    const [active, waiting] = [add('active', stubborn), add('waiting', stubborn)]
    let isClosed = false
    const closed = queue.close().then(() => {
      isClosed = true
    })
    await until(() => active.status() === 'INTERRUPTED')
    expect(waiting.status()).toBe('INTERRUPTED')
    expect(() => add('late')).toThrow('The service is stopping and takes no more runs.')
    await new Promise(setImmediate)
    expect(isClosed).toBe(false)
    active.ended.resolve(PASSED)
    await closed
    expect([begun, active.saved()?.status]).toEqual([['active'], 'INTERRUPTED'])
  })
})
