import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type RunOutcome, withoutTests } from '../../src/execution/outcome.ts'
import { resourcesOf } from '../../src/execution/resources.ts'
import { queueRun } from '../../src/runs/run.ts'
import type { RunStore } from '../../src/runs/store.ts'
import { until } from '../support/a-local-service.ts'
import { createQueue, openStore, PASSED } from '../support/a-run-store.ts'

/** A run that leaves nothing on the machine. */
const RESOURCES = resourcesOf('1', '/none', '/none')

/** A queue with one run, and a store whose next saves fail, as often as `failures` says. */
async function aQueue({ endsWhenStopped = true, endWaitMs = 0 } = {}) {
  const store = await openStore()
  const disk = { failures: 0 }
  const log: string[] = []
  const save: RunStore['save'] = (run, resources) => {
    if (disk.failures-- > 0) throw new Error('database or disk is full')
    store.save(run, resources)
  }
  const queue = createQueue({ ...store, save }, log, endWaitMs)
  const run = queueRun({ projectId: 'shop' })
  const ended = Promise.withResolvers<RunOutcome>()
  const execute = (stop: AbortSignal) => {
    if (endsWhenStopped) stop.addEventListener('abort', () => ended.resolve(withoutTests(stop)))
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
    expect(await queue.cancel(run.runId)).toBe(true)
    expect([status(), saved()]).toEqual(['CANCELLED', expect.objectContaining({ status: 'CANCELLED', testCases: [] })])
    ended.resolve(PASSED)
    await queue.close()
    expect(saved()?.status).toBe('CANCELLED')
  })

  it('lets a client that has read RUNNING wait for the end, but not longer than its limit', async () => {
    const { queue, run, status } = await aQueue({ endWaitMs: 1 })
    await queue.waitForEnd(run.runId)
    await queue.waitForEnd(run.runId)
    expect(status()).toBe('RUNNING')
  })

  it('tells such a client of the end at once, and every other one what there is', async () => {
    const { queue, run, ended, status } = await aQueue({ endWaitMs: 1_000_000 })
    await queue.waitForEnd(run.runId)
    expect(status()).toBe('RUNNING')
    const atEnd = queue.waitForEnd(run.runId).then(status)
    ended.resolve(PASSED)
    expect(await atEnd).toBe('PASSED')
  })

  it('does not say that a cancelled run exceeded its limit while its processes end', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { queue, run, ended, log, status } = await aQueue({ endsWhenStopped: false })
    await vi.advanceTimersByTimeAsync(59_000)
    expect(status()).toBe('RUNNING')
    await queue.cancel(run.runId)
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
    expect([status(), JSON.stringify(run.phase)]).toEqual(['FAILED', expect.not.stringContaining('message')])
  })

  it('tells clients the outcome of a run that it cannot save', async () => {
    const { queue, run, disk, ended, log, status, saved } = await aQueue()
    disk.failures = Number.POSITIVE_INFINITY
    ended.resolve(PASSED)
    await until(() =>
      log.join().includes('could not be saved, so its outcome may be lost after a restart: database or disk'),
    )
    expect([status(), saved()?.status]).toEqual(['PASSED', 'RUNNING'])
    expect(await queue.cancel(run.runId)).toBe(false)
  })

  it('saves an outcome again when the files of the run are gone, because they may have filled the disk', async () => {
    const { disk, ended, saved } = await aQueue()
    disk.failures = 1
    ended.resolve(PASSED)
    await until(() => saved()?.status === 'PASSED')
  })
})

it('a queue starts runs in their order, never more than its number, and one at a time with the same key', async () => {
  const store = await openStore()
  const queue = createQueue(store)
  const ends = new Map<string, () => void>()
  const add = (projectId: string, exclusiveKey?: string) => {
    const run = queueRun({ projectId })
    const execute = (stop: AbortSignal) =>
      new Promise<RunOutcome>((resolve) => {
        ends.set(projectId, () => resolve(PASSED))
        stop.addEventListener('abort', () => resolve(withoutTests(stop)))
      })
    queue.add(run, { resources: RESOURCES, exclusiveKey, execute })
    return run
  }
  const runs = [add('a', 'folder'), add('b', 'folder'), add('c'), add('d'), add('e')]
  const running = () => runs.filter(({ phase }) => phase.status === 'RUNNING').map(({ projectId }) => projectId)
  const end = async (projectId: string, next: readonly string[]) => {
    ends.get(projectId)?.()
    await until(() => running().join() === next.join())
    expect(ends.size).toBe(5 - runs.filter(({ phase }) => phase.status === 'QUEUED').length)
  }
  expect(running()).toEqual(['a', 'c'])
  await end('c', ['a', 'd'])
  await end('a', ['b', 'd'])
  await end('b', ['d', 'e'])
  await queue.close()
  expect(runs.map(({ phase }) => phase.status)).toEqual(['PASSED', 'PASSED', 'PASSED', 'INTERRUPTED', 'INTERRUPTED'])
})
