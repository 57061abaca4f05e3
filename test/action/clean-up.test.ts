import { describe, expect, test } from 'vitest'
import { cleanUpAfterMain } from '../../src/action/clean-up.ts'
import type { LeftToDo } from '../../src/handover/main-file.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  NOT_LISTED,
  PASSED,
  RUNNING,
  response,
  type Script,
  statusFailure,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'
import { MemoryFile } from '../support/memory-file.ts'

const NOT_FOUND = failure(statusFailure(404))
const STARTED: LeftToDo = { phase: 'started', runId: 'run-1', mayCancel: true }
const STARTING: LeftToDo = { phase: 'starting' }
const CANCEL: Script = { cancel: [response(true)] }
/** Post waits so long for an answer. */
const UNANSWERED_MS = 5_000

/** What main does after post has asked it to stop. A dead main does nothing. */
interface Main {
  readonly file: MemoryFile
  readonly answersAfterMs?: number
  readonly endsAfterMs?: number
  /** The line that main leaves at its end. By default, main removes its file. */
  readonly leaves?: LeftToDo
}

interface Setting {
  readonly script?: Script
  readonly mains?: readonly Main[]
  readonly signalAtMs?: number
  readonly hasSameInputs?: boolean
}

async function post({ script = CANCEL, mains, signalAtMs, hasSameInputs = true }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const open = async () => service
  // By default, post finds a main that was killed while it waited.
  const found: readonly Main[] = mains ?? [{ file: new MemoryFile(STARTED) }]
  for (const { file, answersAfterMs = Infinity, endsAfterMs = Infinity, leaves } of found) {
    clock.at(answersAfterMs, () => file.answerStopRequest())
    clock.at(endsAfterMs, () => (leaves === undefined ? file.remove() : file.append(leaves)))
  }
  const files = found.map(({ file }) => file)
  await clock.run(cleanUpAfterMain(files, { ...world, open, hasSameInputs: () => hasSameInputs }))
  expect(files.every((file) => !file.exists() && !file.isStopRequested)).toBe(true)
  return {
    infos: world.texts('info '),
    warnings: world.texts('warning '),
    requests: service.requests,
    endedMs: clock.now(),
  }
}

describe('the run that main left', () => {
  test('is cancelled, and the log says so', async () => {
    const { infos, warnings, requests } = await post({})
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1', atMs: UNANSWERED_MS }])
    expect(infos).toEqual([expect.stringContaining('run-1'), expect.stringMatching(/run-1 was cancelled/)])
    expect(warnings).toEqual([])
  })

  test('causes no warning if it has finished meanwhile', async () => {
    const script = { cancel: [failure(NOT_LISTED)], get: [response(PASSED)] }
    const { infos, warnings } = await post({ script })
    expect(infos.at(-1)).toMatch(/run-1 had already finished/)
    expect(warnings).toEqual([])
  })

  test('is not mentioned if the service does not know it for 15 s', async () => {
    const { warnings, endedMs } = await post({ script: { cancel: [NOT_FOUND], get: [NOT_FOUND] } })
    expect(warnings).toEqual([])
    expect(endedMs).toBeGreaterThanOrEqual(UNANSWERED_MS + 15_000)
    expect(endedMs).toBeLessThan(60_000)
  })

  test('is cancelled again for 60 s, and then named in one warning', async () => {
    const script = { cancel: [failure(NOT_LISTED)], get: [response(RUNNING)] }
    const { warnings, endedMs } = await post({ script })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running/)])
    expect(endedMs).toBeGreaterThan(UNANSWERED_MS + 50_000)
    expect(endedMs).toBeLessThanOrEqual(UNANSWERED_MS + 60_001)
  })

  test('is named if its workflow has no cancel', async () => {
    const { warnings, requests } = await post({ script: {} })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running.*cannot cancel/)])
    expect(requests).toEqual([])
  })

  test('is named, and nothing is sent, if a later step has changed the inputs', async () => {
    const { warnings, requests } = await post({ hasSameInputs: false })
    expect(requests).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running\. .* has another value now\./)])
  })
})

describe('main’s file says', () => {
  test.each<[string, LeftToDo]>([
    ['nothing was started', { phase: 'nothing started' }],
    ['the run may not be cancelled', { ...STARTED, mayCancel: false }],
  ])('that %s, and post is silent', async (_, left) => {
    const result = await post({ mains: [{ file: new MemoryFile(left) }] })
    expect(result).toMatchObject({ requests: [], infos: [], warnings: [] })
  })

  test('that a run was being started: post warns once, because nobody can look up the run', async () => {
    const { warnings, requests } = await post({ mains: [{ file: new MemoryFile(STARTING) }] })
    expect(warnings).toEqual([expect.stringContaining('may have been started')])
    expect(requests).toEqual([])
  })

  test('nothing whole: post warns, and does not fail', async () => {
    const { warnings, requests } = await post({ mains: [{ file: new MemoryFile() }] })
    expect(warnings).toEqual([expect.stringMatching(/does not know .*: no whole line\. .* may still be running\./)])
    expect(requests).toEqual([])
  })
})

describe('a main that may still live', () => {
  test.each([
    true,
    false,
  ])('answers and cancels its run itself: post is silent (the inputs are the same: %s)', async (hasSameInputs) => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs: 250, endsAfterMs: 9_500 }]
    const { requests, infos, warnings, endedMs } = await post({ mains, hasSameInputs })
    expect([requests, infos, warnings]).toEqual([[], [expect.stringContaining('still running')], []])
    expect(endedMs).toBeLessThan(10_000)
  })

  test('learns the id of its run, but cannot cancel the run: post does', async () => {
    const mains = [{ file: new MemoryFile(STARTING), answersAfterMs: 250, endsAfterMs: 9_500, leaves: STARTED }]
    const { requests } = await post({ mains })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
  })

  test.each([
    Infinity,
    450,
  ])('ends after 500 ms, and answers after %s ms: post is silent at once', async (answersAfterMs) => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs, endsAfterMs: 500 }]
    expect(await post({ mains })).toMatchObject({ requests: [], infos: [], endedMs: 500 })
  })

  test('answers but does not end: post acts 12 s later', async () => {
    const mains = [{ file: new MemoryFile(STARTED), answersAfterMs: 200 }]
    const { requests } = await post({ mains })
    expect(requests).toMatchObject([{ method: 'cancel', atMs: 12_200 }])
  })

  test('cannot be asked, because its folder cannot be written: post acts at once', async () => {
    const file = new MemoryFile(STARTED)
    file.askToStop = () => false
    const { requests } = await post({ mains: [{ file }] })
    expect(requests).toMatchObject([{ method: 'cancel', atMs: 0 }])
  })

  test('is asked at once, like all others. Post cancels what each of them leaves', async () => {
    const mains = ['run-1', 'run-2'].map((runId) => {
      const file = new MemoryFile({ ...STARTED, runId })
      return { file, answersAfterMs: 250, endsAfterMs: 500, leaves: { ...STARTED, runId } }
    })
    const { requests } = await post({ mains })
    expect(requests.map(({ runId, atMs }) => [runId, atMs]).toSorted()).toEqual([
      ['run-1', 12_300],
      ['run-2', 12_300],
    ])
  })
})
