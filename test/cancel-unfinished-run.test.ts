import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cancelUnfinishedRun, finishStep, type SavedState } from '../src/cancel-unfinished-run.ts'
import { createStepFile, type FoundMain, findStepFiles, type MainRecord } from '../src/github/step-file.ts'
import type { Failure } from '../src/outcome/failure.ts'
import type { Run } from '../src/outcome/run.ts'
import { FakeClock } from './support/fake-clock.ts'
import {
  FakeService,
  failure,
  noResponse,
  PASSED,
  type Reply,
  RUNNING,
  response,
  type Script,
} from './support/fake-service.ts'
import { FakeWorld } from './support/fake-world.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const NOT_FOUND: Failure = { kind: 'status', status: 404 }

interface Setting {
  readonly script?: Script
  readonly state?: SavedState
  readonly mains?: (clock: FakeClock) => readonly FakeMain[]
  readonly openError?: Error
  readonly signalAtMs?: number
}

const SAVED: SavedState = { file: 'main-1', start: 'attempted', run: '"run-1"' }
const RECORD: MainRecord = { pid: 7, startTime: '1', phase: 'started', runId: 'run-1', mayCancel: true }

/** A main and its file. */
class FakeMain implements FoundMain {
  record: MainRecord | undefined
  lives: boolean
  readonly signals: string[] = []
  readonly #onSignal: (main: FakeMain) => void

  /** With `onSignal` it lives until it is killed, or until that ends it. */
  constructor(record: MainRecord, onSignal?: (main: FakeMain) => void) {
    this.record = record
    this.lives = onSignal !== undefined
    this.#onSignal = onSignal ?? (() => {})
  }

  read = () => this.record
  isAlive = () => this.lives
  removeFile = () => {
    this.record = undefined
  }
  signal = (_: MainRecord, signal: 'SIGHUP' | 'SIGKILL') => {
    this.signals.push(signal)
    if (signal === 'SIGKILL') this.lives = false
    this.#onSignal(this)
  }
}

async function post({ script = {}, state = SAVED, mains, openError, signalAtMs }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const open = async () => {
    if (openError !== undefined) throw openError
    return service
  }
  // Without a word about it: a main that was killed in the middle of its run.
  const found = mains?.(clock) ?? [new FakeMain(RECORD)]
  await clock.run(finishStep(found, state, { ...world, open }))
  return {
    mains: found,
    infos: world.texts('info '),
    warnings: world.texts('warning '),
    requests: service.requests,
    methods: service.requests.map(({ method }) => method),
    endedMs: clock.now(),
  }
}

describe('the run that main left unfinished', () => {
  test('is cancelled, and the log says so', async () => {
    const { mains, infos, warnings, requests } = await post({ script: { cancel: [response(true)] } })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(infos).toEqual([expect.stringContaining('run-1'), expect.stringMatching(/run-1 was cancelled/)])
    expect(warnings).toEqual([])
    expect(mains.map((main) => main.read())).toEqual([undefined])
  })

  test('may have finished meanwhile, which is no reason for a warning', async () => {
    const { infos, warnings } = await post({ script: { cancel: [response(false)], get: [response(PASSED)] } })
    expect(infos.at(-1)).toMatch(/run-1.*finished.*PASSED/)
    expect(warnings).toEqual([])
  })

  test('may not exist any more, which is no reason for a word once it cannot be too new to be known', async () => {
    const script = { cancel: [failure(NOT_FOUND)], get: [failure(NOT_FOUND)] }
    const { warnings, endedMs } = await post({ script })
    expect(warnings).toEqual([])
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
    expect(endedMs).toBeLessThan(60_000)
  })

  test('is tried for 60 s, and then named in one warning', async () => {
    const { warnings, endedMs } = await post({ script: { cancel: [response(false)], get: [response(RUNNING)] } })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running/)])
    expect(endedMs).toBeGreaterThan(50_000)
    expect(endedMs).toBeLessThanOrEqual(60_001)
  })

  test('is named if its workflow has no cancel', async () => {
    const { warnings, requests } = await post({})
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running.*no cancel/)])
    expect(requests).toEqual([])
  })

  test('is named if the service cannot be reached at all, with the reason', async () => {
    const { warnings } = await post({ openError: new Error('The input base-url is required.') })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running: The input base-url is required\. /)])
  })

  test('is tried once more when the runner ends post, too', async () => {
    const { warnings, endedMs } = await post({ script: { cancel: [noResponse, response(true)] }, signalAtMs: 2_000 })
    expect(warnings).toEqual([])
    expect(endedMs).toBe(2_000)
  })
})

test('post deals with the file that its state names alone, and without a name with all of its identity', async () => {
  const env = { RUNNER_TEMP: temporaryFolder() }
  const exited = JSON.stringify({ ...RECORD, bootId: 'another boot', phase: 'nothing-started' })
  const [one, other] = [createStepFile(env)?.name ?? '', createStepFile(env)?.name ?? '']
  for (const name of [one, other]) writeFileSync(join(env.RUNNER_TEMP, name), exited)
  const { signal } = new AbortController()
  await cancelUnfinishedRun(env, { file: one }, signal)
  expect(findStepFiles(env)).toEqual([join(env.RUNNER_TEMP, other)])
  await cancelUnfinishedRun(env, {}, signal)
  expect(findStepFiles(env)).toEqual([])
})

describe('what the file and the state tell', () => {
  const CANCEL: Script = { cancel: [response(true)] }

  test('is the same: the file alone is enough, if the state was lost', async () => {
    const { requests, warnings } = await post({ script: CANCEL, state: {} })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(warnings).toEqual([])
  })

  test('is the id from the state if the file could not be brought up to date', async () => {
    const { requests } = await post({ script: CANCEL, mains: () => [new FakeMain({ pid: 7, phase: 'starting' })] })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
  })

  test('is the state alone if main could make no file', async () => {
    const none = { mains: () => [], script: CANCEL }
    expect((await post({ ...none, state: { start: 'attempted', run: '"run-1"' } })).requests).toHaveLength(1)
    expect((await post({ ...none, state: { start: 'attempted' } })).warnings).toEqual([
      expect.stringContaining('may have been started'),
    ])
  })

  test('is that main was done, if it has removed its file: one look at a run whose end the state does not say', async () => {
    const look = (run: Reply<Run>) => post({ mains: () => [], script: { get: [run], cancel: [response(true)] } })
    for (const run of [response(PASSED), failure(NOT_FOUND)]) {
      expect(await look(run)).toMatchObject({ methods: ['get'], infos: [], warnings: [] })
    }
    for (const run of [response(RUNNING), failure({ kind: 'status', status: 503 })]) {
      expect(await look(run)).toMatchObject({ methods: ['get', 'cancel'] })
    }
    const inStart = await post({ mains: () => [], state: { file: 'main-1', start: 'attempted' } })
    expect(inStart.warnings).toEqual([])
  })

  test('is nothing if nothing was started', async () => {
    const idle = await post({
      state: { file: 'main-1' },
      mains: () => [new FakeMain({ ...RECORD, phase: 'nothing-started' })],
    })
    expect(idle).toMatchObject({ requests: [], infos: [], warnings: [] })
    expect(idle.mains[0]?.read()).toBeUndefined()
  })

  test('is that the run must not be cancelled, if main says so', async () => {
    const mains = () => [new FakeMain({ ...RECORD, mayCancel: false })]
    const { methods, warnings } = await post({ script: CANCEL, state: {}, mains })
    expect([methods, warnings]).toEqual([[], []])
  })

  test('is a run each, if several steps lost their state, and the run of the state as well', async () => {
    const mains = () => ['run-1', 'run-2'].map((runId) => new FakeMain({ ...RECORD, runId }))
    const state = { start: 'attempted', run: '"run-9"' }
    const { requests } = await post({ script: CANCEL, state, mains })
    expect(requests.map(({ runId }) => runId).toSorted()).toEqual(['run-1', 'run-2', 'run-9'])
  })

  test.each([
    ['no id', undefined],
    ['an empty id', '""'],
    ['what is no JSON', 'run-1'],
    ['a number', '7'],
  ])('is one warning, and nothing is sent, with a start and %s', async (_, run) => {
    const mains = () => [new FakeMain({ ...RECORD, phase: 'starting', runId: undefined })]
    const { warnings, requests } = await post({ state: { ...SAVED, run }, mains })
    expect(warnings).toEqual([expect.stringContaining('may have been started')])
    expect(requests).toEqual([])
  })
})

describe('a main that still lives', () => {
  test('is told to end, cancels its run itself, and nothing is said twice', async () => {
    const mains = (clock: FakeClock) => [new FakeMain(RECORD, (main) => clock.at(clock.now() + 1_000, main.removeFile))]
    const { mains: [main] = [], methods, infos, warnings } = await post({ script: { get: [response(PASSED)] }, mains })
    expect(main?.signals).toEqual(['SIGHUP'])
    expect(methods).toEqual(['get'])
    expect(infos).toEqual([expect.stringContaining('still running')])
    expect(warnings).toEqual([])
  })

  test('gets 40 s to learn the id of a run that it starts, and post cancels what it then leaves', async () => {
    const starting: MainRecord = { ...RECORD, phase: 'starting', runId: undefined }
    const mains = (clock: FakeClock) => [
      new FakeMain(starting, (main) =>
        clock.at(30_000, () => {
          main.record = RECORD
          main.lives = false
        }),
      ),
    ]
    const script = { cancel: [response(true)] }
    const { mains: [main] = [], requests, endedMs } = await post({ script, state: {}, mains })
    expect(main?.signals).toEqual(['SIGHUP'])
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(endedMs).toBeLessThan(31_000)
  })

  test('is killed after that, and all is over within the 60 s of post', async () => {
    const { mains, requests, warnings, endedMs } = await post({
      script: { cancel: [noResponse] },
      mains: () => [new FakeMain(RECORD, () => {})],
    })
    expect(mains[0]?.signals).toEqual(['SIGHUP', 'SIGKILL'])
    expect(requests[0]?.atMs).toBeGreaterThanOrEqual(40_000)
    expect(endedMs).toBeLessThanOrEqual(60_001)
    expect(warnings).toEqual([expect.stringContaining('run-1 may still be running')])
  })

  test('gets no more than 4 s where post can send it no signal, because the runner ends it', async () => {
    const mains = () => [new FakeMain({ ...RECORD, startTime: undefined }, () => {})]
    const { requests, endedMs } = await post({ script: { cancel: [response(true)] }, mains })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(endedMs).toBeGreaterThanOrEqual(4_000)
    expect(endedMs).toBeLessThan(5_000)
  })

  test('is told at once with all others', async () => {
    const mains = () =>
      ['run-1', 'run-2'].map((runId) => new FakeMain({ ...RECORD, runId }, (main) => main.removeFile()))
    const { mains: found, endedMs } = await post({ state: {}, mains })
    expect(found.map(({ signals }) => signals)).toEqual([['SIGHUP'], ['SIGHUP']])
    expect(endedMs).toBe(0)
  })
})
