import { describe, expect, test } from 'vitest'
import { cleanUp } from '../src/clean-up-after-main.ts'
import { canSignal } from '../src/handover/main-process.ts'
import type { Handover, StepRecord } from '../src/handover/record.ts'
import type { Failure } from '../src/outcome/failure.ts'
import { FakeClock } from './support/fake-clock.ts'
import { FakeService, failure, noResponse, PASSED, RUNNING, response, type Script } from './support/fake-service.ts'
import { FakeWorld } from './support/fake-world.ts'

const NOT_FOUND: Failure = { kind: 'status', status: 404 }

interface Setting {
  readonly script?: Script
  readonly mains?: (clock: FakeClock) => readonly FakeMain[]
  readonly openError?: Error
  readonly signalAtMs?: number
}

const MAIN = { pid: 7, startTime: '1', file: 'main-1' }
const RECORD: StepRecord = { ...MAIN, phase: 'started', runId: 'run-1', mayCancel: true }

/** A main, and its record as post reads it. */
class FakeMain implements Handover {
  record: StepRecord
  lives: boolean
  isFileThere = true
  hasSameInputs = true
  isKillable = true
  readonly signals: string[] = []
  readonly #onSignal: (main: FakeMain) => void

  /** If `onSignal` is given, main lives until it is killed or until `onSignal` ends it. */
  constructor(record: StepRecord, onSignal?: (main: FakeMain) => void) {
    this.record = record
    this.lives = onSignal !== undefined
    this.#onSignal = onSignal ?? (() => {})
  }

  readRecord = () => this.record
  isMainRunning = () => this.lives
  canSignalMain = () => canSignal(this.record)
  removeFile = () => {
    this.isFileThere = false
  }
  signalMain = (signal: 'SIGHUP' | 'SIGKILL') => {
    this.signals.push(signal)
    if (signal === 'SIGKILL' && this.isKillable) this.lives = false
    this.#onSignal(this)
  }
  exit = () => {
    this.lives = false
  }
  finish = () => {
    this.record = { ...MAIN, phase: 'done' }
    this.exit()
  }
}

async function post({ script = {}, mains, openError, signalAtMs }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const open = async () => {
    if (openError !== undefined) throw openError
    return service
  }
  // By default, post finds a main that was killed in the middle of its run.
  const found = mains?.(clock) ?? [new FakeMain(RECORD)]
  await clock.run(cleanUp(found, { ...world, open }))
  expect(found.map(({ isFileThere }) => isFileThere)).toEqual(found.map(({ lives }) => lives))
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
    const { infos, warnings, requests } = await post({ script: { cancel: [response(true)] } })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(infos).toEqual([expect.stringContaining('run-1'), expect.stringMatching(/run-1 was cancelled/)])
    expect(warnings).toEqual([])
  })

  test('causes no warning if it has finished meanwhile', async () => {
    const { infos, warnings } = await post({ script: { cancel: [response(false)], get: [response(PASSED)] } })
    expect(infos.at(-1)).toMatch(/run-1.*finished.*PASSED/)
    expect(warnings).toEqual([])
  })

  test('is not mentioned if it does not exist any more after the grace period', async () => {
    const script = { cancel: [failure(NOT_FOUND)], get: [failure(NOT_FOUND)] }
    const { warnings, endedMs } = await post({ script })
    expect(warnings).toEqual([])
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
    expect(endedMs).toBeLessThan(60_000)
  })

  test('is cancelled again for 60 s, and then named in one warning', async () => {
    const { warnings, endedMs } = await post({ script: { cancel: [response(false)], get: [response(RUNNING)] } })
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
    const { warnings, endedMs } = await post({ script: { cancel: [noResponse, response(true)] }, signalAtMs: 2_000 })
    expect(warnings).toEqual([])
    expect(endedMs).toBe(2_000)
  })
})

describe('what the record says', () => {
  const CANCEL: Script = { cancel: [response(true)] }

  test.each<[string, StepRecord]>([
    ['nothing was started', { ...MAIN, phase: 'nothing started' }],
    ['nothing is left to do', { ...MAIN, phase: 'done' }],
    ['the run may not be cancelled', { ...RECORD, mayCancel: false }],
  ])('is that %s, and post is silent', async (_, record) => {
    const result = await post({ script: CANCEL, mains: () => [new FakeMain(record)] })
    expect(result).toMatchObject({ requests: [], infos: [], warnings: [] })
  })

  test('is that a run was being started, and post writes one warning, because nobody can look up the run', async () => {
    const mains = () => [new FakeMain({ ...MAIN, phase: 'starting' })]
    const { warnings, requests } = await post({ script: CANCEL, mains })
    expect(warnings).toEqual([expect.stringContaining('may have been started')])
    expect(requests).toEqual([])
  })

  test('names a run for each step if several steps of one identity lost their state', async () => {
    const mains = () => ['run-1', 'run-2'].map((runId) => new FakeMain({ ...RECORD, runId }))
    const { requests } = await post({ script: CANCEL, mains })
    expect(requests.map(({ runId }) => runId).toSorted()).toEqual(['run-1', 'run-2'])
  })
})

describe('a main whose inputs have changed since it began', () => {
  test('is named in one warning if its run would have to be cancelled, and nothing is sent', async () => {
    const main = new FakeMain(RECORD)
    main.hasSameInputs = false
    const { warnings, requests } = await post({ script: { cancel: [response(true)] }, mains: () => [main] })
    expect(requests).toEqual([])
    expect(warnings).toEqual([
      expect.stringMatching(/run-1 may still be running\. .* a later step has changed a value/),
    ])
  })

  test('is ended if it still lives, and cancels its run itself', async () => {
    const main = new FakeMain(RECORD, ({ finish }) => finish())
    main.hasSameInputs = false
    const { warnings, requests } = await post({ mains: () => [main] })
    expect(main.signals).toEqual(['SIGHUP'])
    expect([requests, warnings]).toEqual([[], []])
  })
})

describe('a main that still lives', () => {
  test('is told to end and cancels its run itself, and post writes no warning', async () => {
    const mains = (clock: FakeClock) => [new FakeMain(RECORD, (main) => clock.at(clock.now() + 1_000, main.finish))]
    const { mains: [main] = [], methods, infos, warnings } = await post({ mains })
    expect(main?.signals).toEqual(['SIGHUP'])
    expect(methods).toEqual([])
    expect(infos).toEqual([expect.stringContaining('still running')])
    expect(warnings).toEqual([])
  })

  test('gets 40 s to learn the id of a run that it starts, and post cancels what it then leaves', async () => {
    const starting: StepRecord = { ...MAIN, phase: 'starting' }
    const mains = (clock: FakeClock) => [
      new FakeMain(starting, (main) =>
        clock.at(30_000, () => {
          main.record = RECORD
          main.lives = false
        }),
      ),
    ]
    const script = { cancel: [response(true)] }
    const { mains: [main] = [], requests, endedMs } = await post({ script, mains })
    expect(main?.signals).toEqual(['SIGHUP'])
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(endedMs).toBeLessThan(31_000)
  })

  test('is killed after 40 s, and post ends within its 60 s', async () => {
    const { mains, requests, warnings, endedMs } = await post({
      script: { cancel: [noResponse] },
      mains: () => [new FakeMain(RECORD, () => {})],
    })
    expect(mains[0]?.signals).toEqual(['SIGHUP', 'SIGKILL'])
    expect(requests[0]?.atMs).toBeGreaterThanOrEqual(40_000)
    expect(endedMs).toBeLessThanOrEqual(60_001)
    expect(warnings).toEqual([expect.stringContaining('run-1 may still be running')])
  })

  test('loses its file also if it exits a moment after SIGKILL', async () => {
    const mains = (clock: FakeClock) => {
      const exitAfterKill = (main: FakeMain) => {
        if (main.signals.includes('SIGKILL')) clock.at(clock.now() + 50, main.exit)
      }
      const main = new FakeMain(RECORD, exitAfterKill)
      main.isKillable = false
      return [main]
    }
    const { mains: [main] = [] } = await post({ script: { cancel: [response(true)] }, mains })
    expect(main?.isFileThere).toBe(false)
  })

  test('keeps its file if SIGKILL does not end it, as if it runs as another user, and post tries the cancel too', async () => {
    const main = new FakeMain(RECORD, () => {})
    main.isKillable = false
    const { requests, endedMs } = await post({ script: { cancel: [response(true)] }, mains: () => [main] })
    expect(main.isFileThere).toBe(true)
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(endedMs).toBeLessThan(42_000)
  })

  test('gets up to 4 s if post cannot signal it, because the runner ends it itself', async () => {
    const mains = () => [new FakeMain({ ...RECORD, startTime: undefined }, () => {})]
    const { requests, endedMs } = await post({ script: { cancel: [response(true)] }, mains })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(endedMs).toBeGreaterThanOrEqual(4_000)
    expect(endedMs).toBeLessThan(5_000)
  })

  test('gets 40 s, also if post cannot signal another main', async () => {
    const mains = (clock: FakeClock) => [
      new FakeMain({ ...RECORD, runId: 'run-2', startTime: undefined }, () => {}),
      new FakeMain(RECORD, (main) => clock.at(clock.now() + 30_000, main.finish)),
    ]
    const { mains: found, methods } = await post({ script: { cancel: [response(true)] }, mains })
    expect(found.map(({ signals }) => signals.filter((signal) => signal === 'SIGKILL'))).toEqual([['SIGKILL'], []])
    expect(methods).toEqual(['cancel'])
  })

  test('is not killed when the runner ends post, because it may learn the id, and post tries the cancel too', async () => {
    const { mains, requests } = await post({
      script: { cancel: [response(true)] },
      mains: () => [new FakeMain(RECORD, () => {})],
      signalAtMs: 5_000,
    })
    expect(mains[0]?.signals).toEqual(['SIGHUP'])
    expect(requests).toMatchObject([{ method: 'cancel', atMs: 5_000 }])
  })

  test('keeps its file if it is still starting a run when the runner ends post, and post warns of the run', async () => {
    const starting: StepRecord = { ...MAIN, phase: 'starting' }
    const mains = () => [new FakeMain(starting, () => {})]
    const { mains: [main] = [], warnings } = await post({ mains, signalAtMs: 5_000 })
    expect(main?.isFileThere).toBe(true)
    expect(warnings).toEqual([expect.stringContaining('may have been started')])
  })

  test('gets its signal at once, like all other mains', async () => {
    const mains = () => ['run-1', 'run-2'].map((runId) => new FakeMain({ ...RECORD, runId }, ({ finish }) => finish()))
    const { mains: found, endedMs } = await post({ mains })
    expect(found.map(({ signals }) => signals)).toEqual([['SIGHUP'], ['SIGHUP']])
    expect(endedMs).toBe(0)
  })
})
