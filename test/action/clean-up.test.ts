import { describe, expect, test } from 'vitest'
import { cleanUpAfterMain } from '../../src/action/clean-up.ts'
import type { MainRecord } from '../../src/handover/main-file.ts'
import type { Failure } from '../../src/model/failure.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeService, failure, noResponse, PASSED, RUNNING, response, type Script } from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'
import { MemoryFile } from '../support/memory-file.ts'

const NOT_FOUND: Failure = { kind: 'status', status: 404 }
const STARTED: MainRecord = { phase: 'started', runId: 'run-1', mayCancel: true }
const STARTING: MainRecord = { phase: 'starting' }

/** What main does after post has asked it to stop. A dead main does nothing. */
interface Main {
  readonly file: MemoryFile
  readonly canBeAsked?: boolean
  readonly answersAfterMs?: number
  readonly endsAfterMs?: number
  /** The record that main leaves at its end. By default, main removes its file. */
  readonly leaves?: MainRecord
}

interface Setting {
  readonly script?: Script
  readonly mains?: readonly Main[]
  readonly openError?: Error
  readonly signalAtMs?: number
  readonly hasSameInputs?: boolean
  readonly mayBeNew?: boolean
}

async function post({ script = {}, mains, openError, signalAtMs, ...setting }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const open = async () => {
    if (openError !== undefined) throw openError
    return service
  }
  // By default, post finds a main that was killed while it waited.
  const found: readonly Main[] = mains ?? [{ file: new MemoryFile(STARTED) }]
  for (const { file, canBeAsked = true, answersAfterMs, endsAfterMs, leaves } of found) {
    file.askToStop = () => {
      if (!canBeAsked) return false
      file.isStopRequested = true
      file.stopRequests++
      if (answersAfterMs !== undefined) clock.at(clock.now() + answersAfterMs, () => file.answerStop())
      if (endsAfterMs !== undefined)
        clock.at(clock.now() + endsAfterMs, () => (leaves === undefined ? file.remove() : file.append(leaves)))
      return true
    }
  }
  const { hasSameInputs = true, mayBeNew = true } = setting
  const files = found.map(({ file }) => file)
  await clock.run(cleanUpAfterMain(files, { ...world, open, hasSameInputs: () => hasSameInputs, mayBeNew }))
  expect(files.every((file) => file.isRemoved())).toBe(true)
  return {
    files,
    infos: world.texts('info '),
    warnings: world.texts('warning '),
    requests: service.requests,
    endedMs: clock.now(),
  }
}

describe('the run that main left', () => {
  test('is cancelled, and the log says so', async () => {
    const { infos, warnings, requests } = await post({ script: { cancel: [response(true)] } })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(infos).toEqual([expect.stringContaining('run-1'), expect.stringMatching(/run-1 was cancelled/)])
    expect(warnings).toEqual([])
  })

  test('causes no warning if it has finished meanwhile', async () => {
    const { infos, warnings } = await post({
      script: { cancel: [failure({ kind: 'not-listed' })], get: [response(PASSED)] },
    })
    expect(infos.at(-1)).toMatch(/run-1 had already finished/)
    expect(warnings).toEqual([])
  })

  test.each([
    [false, 15_000, 60_000],
    [true, 2_000, 3_000],
  ])('is not mentioned if it does not exist any more. If run-id names it (%s), there is no grace period', async (isGiven, fromMs, toMs) => {
    const script = { cancel: [failure(NOT_FOUND)], get: [failure(NOT_FOUND)] }
    const { warnings, endedMs } = await post({ script, mayBeNew: !isGiven })
    expect(warnings).toEqual([])
    expect(endedMs).toBeGreaterThanOrEqual(fromMs)
    expect(endedMs).toBeLessThan(toMs)
  })

  test('is cancelled again for 60 s, and then named in one warning', async () => {
    const { warnings, endedMs } = await post({
      script: { cancel: [failure({ kind: 'not-listed' })], get: [response(RUNNING)] },
    })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running/)])
    expect(endedMs).toBeGreaterThan(50_000)
    expect(endedMs).toBeLessThanOrEqual(60_001)
  })

  test('is named if its workflow has no cancel', async () => {
    const { warnings, requests } = await post({})
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running.*cannot cancel/)])
    expect(requests).toEqual([])
  })

  test('is named if the service cannot be reached at all, with the reason', async () => {
    const { warnings } = await post({ openError: new Error('The input base-url is required.') })
    expect(warnings).toEqual([
      expect.stringMatching(
        /run-1 may still be running\. The input base-url is required\. If the run should not go on, /,
      ),
    ])
  })

  test('is cancelled once more when the runner ends post', async () => {
    const { warnings, endedMs } = await post({ script: { cancel: [noResponse, response(true)] }, signalAtMs: 4_000 })
    expect(warnings).toEqual([])
    expect(endedMs).toBe(4_000)
  })

  test('is named, and nothing is sent, if a later step has changed the inputs', async () => {
    const { warnings, requests } = await post({ script: { cancel: [response(true)] }, hasSameInputs: false })
    expect(requests).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running\. .* has another value now\./)])
  })
})

test('an error after the file was read is not called a file that cannot be read', async () => {
  const clock = new FakeClock()
  const world = new FakeWorld(clock, new FakeService(clock, {}))
  const hasSameInputs = () => {
    throw new TypeError('undefined is not a function')
  }
  const open = async () => world.service
  await cleanUpAfterMain([new MemoryFile({ ...STARTED, hasEnded: true })], {
    ...world,
    open,
    hasSameInputs,
    mayBeNew: true,
  })
  expect(world.texts('warning ')).toEqual([
    expect.stringMatching(
      /, because the work with the file .* failed: undefined is not a function\. If the step has started/,
    ),
  ])
})

describe('main’s file says', () => {
  const CANCEL: Script = { cancel: [response(true)] }

  test.each<[string, MainRecord]>([
    ['nothing was started', { phase: 'nothing started' }],
    ['the run may not be cancelled', { ...STARTED, mayCancel: false }],
  ])('that %s, and post is silent', async (_, record) => {
    const result = await post({ script: CANCEL, mains: [{ file: new MemoryFile(record) }] })
    expect(result).toMatchObject({ requests: [], infos: [], warnings: [] })
  })

  test.each<[string, MainRecord, number]>([
    ['and main has ended', { ...STARTING, hasEnded: true }, 0],
    ['and main is dead', STARTING, 5_000],
  ])('that a run was being started %s: post warns once, because nobody can look up the run', async (_, record, waitedMs) => {
    const { warnings, requests, endedMs } = await post({ script: CANCEL, mains: [{ file: new MemoryFile(record) }] })
    expect(warnings).toEqual([expect.stringContaining('may have been started')])
    expect(requests).toEqual([])
    expect(endedMs).toBe(waitedMs)
  })

  test('that main has ended: post asks nobody to stop', async () => {
    const file = new MemoryFile({ ...STARTED, hasEnded: true })
    const { requests, endedMs } = await post({ script: CANCEL, mains: [{ file }] })
    expect(requests).toMatchObject([{ method: 'cancel', atMs: 0 }])
    expect(endedMs).toBe(0)
    expect(file.stopRequests).toBe(0)
  })

  test('nothing, because it cannot be read: post warns, and does not fail', async () => {
    const file = new MemoryFile(STARTED)
    file.take = () => {
      file.remove()
      throw new Error('EIO: i/o error')
    }
    const { warnings, requests } = await post({ script: CANCEL, mains: [{ file }] })
    expect(warnings).toEqual([
      expect.stringMatching(/the work with the file .* failed: EIO: i\/o error\. .* may still be running\./),
    ])
    expect(requests).toEqual([])
  })

  test('a run, and the file stays because it cannot be removed: post cancels the run, and one warning names the file', async () => {
    const file = new MemoryFile({ ...STARTED, hasEnded: true })
    file.take = () => {
      file.remove()
      return { record: STARTED, problem: 'EROFS: read-only file system' }
    }
    const { warnings, requests } = await post({ script: CANCEL, mains: [{ file }] })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(warnings).toEqual([expect.stringMatching(/could not remove its file \/tmp\/.*: EROFS/)])
  })

  test('nothing that post understands: post asks main to stop, and warns', async () => {
    const file = new MemoryFile()
    const { warnings, requests } = await post({
      script: CANCEL,
      mains: [{ file, answersAfterMs: 250, endsAfterMs: 500, leaves: { phase: 'of a later version' } as never }],
    })
    expect(requests).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/\/tmp\/.* has no whole record\. .* may still be running\./)])
    expect(file.isStopRequested).toBe(false)
  })

  test('nothing, because it belongs to another user: post warns, and asks nobody', async () => {
    const file = new MemoryFile(STARTED)
    file.isOfAnotherUser = () => {
      file.remove()
      return true
    }
    const { warnings, requests } = await post({ script: CANCEL, mains: [{ file }] })
    expect([requests, file.isStopRequested]).toEqual([[], false])
    expect(warnings).toEqual([expect.stringMatching(/\/tmp\/.* belongs to another user\. .* may still be running\./)])
  })

  test('a run for each step, if several steps of one identity lost their state', async () => {
    const mains = ['run-1', 'run-2'].map((runId) => ({ file: new MemoryFile({ ...STARTED, runId }) }))
    const { requests } = await post({ script: CANCEL, mains })
    expect(requests.map(({ runId }) => runId).toSorted()).toEqual(['run-1', 'run-2'])
  })
})

describe('a main that may still live', () => {
  test('answers, cancels its run itself and removes its file: post sends nothing and writes no warning', async () => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs: 250, endsAfterMs: 9_000 }]
    const { requests, infos, warnings, endedMs } = await post({ mains })
    expect(requests).toEqual([])
    expect(infos).toEqual([expect.stringContaining('still running')])
    expect(warnings).toEqual([])
    expect(endedMs).toBeLessThan(10_000)
  })

  test('answers also if the inputs have changed, and cancels its run itself', async () => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs: 250, endsAfterMs: 1_000 }]
    expect(await post({ mains, hasSameInputs: false })).toMatchObject({ requests: [], warnings: [] })
  })

  test('learns the id of its run, but cannot cancel the run: post does', async () => {
    const leaves: MainRecord = { ...STARTED, hasEnded: true }
    const mains = [{ file: new MemoryFile(STARTING), answersAfterMs: 250, endsAfterMs: 9_000, leaves }]
    const { requests, endedMs } = await post({ script: { cancel: [response(true)] }, mains })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(endedMs).toBeLessThan(10_000)
  })

  test('ends without an answer: nobody reads the request any more, and post removes it', async () => {
    const mains = [{ file: new MemoryFile(STARTED), endsAfterMs: 500 }]
    const { files, requests, endedMs } = await post({ mains })
    expect(requests).toEqual([])
    expect(endedMs).toBeLessThan(1_000)
    expect(files[0]?.isStopRequested).toBe(false)
  })

  test.each<[MainRecord, number]>([
    [STARTED, 2_000],
    [STARTING, 5_000],
  ])('does not answer with the record %j: post acts after %i ms, and leaves the request for a blocked main', async (record, ms) => {
    const { files, endedMs } = await post({
      script: { cancel: [response(true)] },
      mains: [{ file: new MemoryFile(record) }],
    })
    expect(endedMs).toBe(ms)
    expect(files[0]?.isStopRequested).toBe(true)
  })

  test('does not end: post acts after 12 s, and ends within its 60 s', async () => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs: 250 }]
    const { requests, warnings, endedMs } = await post({ script: { cancel: [noResponse] }, mains })
    expect(requests[0]?.atMs).toBe(12_000)
    expect(endedMs).toBeLessThanOrEqual(60_001)
    expect(warnings).toEqual([expect.stringContaining('run-1 may still be running')])
  })

  test('is not awaited any longer when the runner ends post', async () => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs: 250 }]
    const { requests } = await post({ script: { cancel: [response(true)] }, mains, signalAtMs: 5_000 })
    expect(requests).toMatchObject([{ method: 'cancel', atMs: 5_000 }])
  })

  test('cannot be asked, because its folder cannot be written: post acts at once', async () => {
    const mains = [{ file: new MemoryFile(STARTED), canBeAsked: false }]
    const { endedMs } = await post({ script: { cancel: [response(true)] }, mains })
    expect(endedMs).toBe(0)
  })

  test('is asked at once, like all others', async () => {
    const mains = ['run-1', 'run-2'].map((runId) => ({
      file: new MemoryFile({ ...STARTED, runId }),
      answersAfterMs: 250,
      endsAfterMs: 500,
    }))
    expect((await post({ mains })).endedMs).toBe(500)
  })
})
