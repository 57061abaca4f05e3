import { describe, expect, test } from 'vitest'
import { performStep, type StepSettings } from '../../src/action/step.ts'
import type { AbortCause, StepSubject } from '../../src/model/outcome.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { aRun, testCasesBy } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  NOT_LISTED,
  noResponse,
  PASSED,
  QUEUED,
  REFUSED,
  RUNNING,
  response,
  type Script,
  statusFailure,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

// The whole step. The tests of start-run, wait-for-run and cancel-run have the details. The simulation tests for any step that it
// ends in time, what it concludes, and that post learns of a run that the step leaves, also after a crash.

const SUBJECT: StepSubject = {
  target: { kind: 'project', id: 'web-shop' },
  ownsRun: true,
  parameters: { branch: 'main' },
  matrix: 'checkout',
  job: { name: 'e2e', url: 'https://github.com/o/r/actions/runs/1/job/2' },
}
const SETTINGS: StepSettings = {
  subject: SUBJECT,
  wait: true,
  waitLimitMs: 60_000,
  mayCancel: true,
  passWithNoTests: false,
  strict: false,
  showOutput: false,
  runUrlOf: () => undefined,
  reports: { summary: 'never', annotations: true },
}
const GIVEN: Partial<StepSettings> = {
  subject: { ...SUBJECT, ownsRun: false, parameters: {} },
  runId: 'run-1',
  mayCancel: false,
}

const NOT_FOUND = failure(statusFailure(404))
const STARTED = [response('run-1', 100)]
const CANCEL = [response<true>(true)]

interface Setting extends Partial<StepSettings> {
  readonly script: Script
  readonly signalAtMs?: number | undefined
  readonly abortCause?: AbortCause
  readonly begunMs?: number
  /** By default, the step reads nothing that takes time before it starts the run. */
  readonly readingMs?: number
}

async function step({ script, signalAtMs, abortCause, begunMs = 0, readingMs = 0, ...settings }: Setting) {
  const clock = new FakeClock()
  if (begunMs > 0) await clock.run(clock.sleep(begunMs))
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs, abortCause)
  const outcome = await clock.run(performStep({ ...SETTINGS, ...settings }, world, clock.now() - readingMs))
  return {
    outcome,
    endedMs: clock.now(),
    requests: service.requests.map(({ method }) => method),
    parameters: service.parameters,
    mainFile: world.texts('file '),
    outputs: world.outputs(),
    error: world.texts('error ')[0],
    effects: world.effects.map(({ text }) => text),
    world,
  }
}

describe('a run that is started and waited for', () => {
  test('writes main’s file, the id, each status, the verdict and the reports, in this order', async () => {
    const failed = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 2 }) })
    const { outcome, effects, parameters } = await step({
      script: { start: STARTED, get: [response(QUEUED), response(RUNNING), response(failed)] },
      reports: { summary: 'always', annotations: true },
    })
    expect(parameters).toEqual({ branch: 'main' })
    expect(outcome).toMatchObject({ conclusion: 'failed', success: false })
    expect(effects).toEqual([
      'file starting',
      'file started run-1',
      'output run-id=run-1',
      'info Run run-1 was started for project “web-shop”, branch “main”',
      'output status=QUEUED',
      'info Run run-1: QUEUED',
      'output status=RUNNING',
      'info Run run-1: RUNNING',
      'output status=FAILED',
      'output conclusion=failed',
      'output status=FAILED',
      'output duration-ms=184000',
      ...['total=2', 'passed=0', 'failed=2', 'flaky=0', 'skipped=0', 'other=0'].map((count) => `output ${count}`),
      'file removed',
      expect.stringMatching(/^error \[Tests failed\] Run run-1 finished as FAILED: 2 of 2 /),
      expect.stringMatching(/^error \[Test failed\] failed case 1/),
      expect.stringMatching(/^error \[Test failed\] failed case 2/),
      'files results.json junit.xml ctrf.json of run-1',
      'output report-dir=/reports',
      expect.stringMatching(/^summary .*Tests failed: 2 of 2/),
      'comment',
    ])
  })

  test('measures limits and times from the beginning of the step, whatever time the clock shows', async () => {
    const { outcome, endedMs, world } = await step({
      script: { start: [failure(REFUSED), ...STARTED], get: [NOT_FOUND, response(QUEUED), response(PASSED)] },
      begunMs: 1_000_000,
    })
    const [start, , poll] = world.texts('info ')
    expect(start).toMatch(/The step tries again in 750 ms, for 59 s at most\.$/)
    expect(poll).toMatch(/^Run run-1: after 0 ms, the status cannot be read, because /)
    // Right after its start, the service may not know the run yet.
    expect(outcome.conclusion).toBe('passed')
    expect(endedMs).toBe(1_000_000 + 750 + 100 + 750 + 330.75)
  })

  test('has its page in the log, an output and the outcome if the user gave run-url', async () => {
    const runUrlOf = (runId: string) => `https://app.example.com/runs/${runId}`
    const url = runUrlOf('run-1')
    const script = { start: STARTED, get: [response(PASSED)] }
    const started = await step({ script, runUrlOf, wait: false })
    expect(started.effects).toContain(`info Run run-1 was started for project “web-shop”, branch “main”: ${url}`)
    const given = await step({ script, runUrlOf, ...GIVEN })
    expect(given.effects).toContain(`info Run run-1: ${url}`)
    for (const { outputs, outcome } of [started, given])
      expect([outputs['run-url'], outcome.runUrl]).toEqual([url, url])
  })
})

test('a start without a response is left to post if the job has ended, because nobody reads the log', async () => {
  const script = { start: [noResponse] }
  const { mainFile, error } = await step({ script, signalAtMs: 1_000, abortCause: 'end of job' })
  expect(error).toContain('may have been started')
  expect(mainFile).toEqual(['starting'])
})

describe('wait: false', () => {
  test('ends the step with success once the run is started', async () => {
    const { outcome, requests, mainFile, outputs } = await step({ script: { start: STARTED }, wait: false })
    expect(outcome).toMatchObject({ conclusion: 'started', success: true })
    expect(requests).toEqual(['start'])
    expect(mainFile).toEqual(['starting', 'started run-1', 'removed'])
    expect(outputs).toEqual({ 'run-id': 'run-1', conclusion: 'started' })
  })

  test.each([
    [true, ['start', 'cancel'], 'started run-1'],
    [false, ['start'], 'started run-1, not to be cancelled'],
  ])('sets the id also if the step is cancelled during the start, with cancel-on-abort %s', async (mayCancel, sent, run) => {
    const { outcome, requests, mainFile, outputs } = await step({
      script: { start: [response('run-1', 3_000)], cancel: CANCEL },
      wait: false,
      mayCancel,
      signalAtMs: 1_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(requests).toEqual(sent)
    expect(mainFile).toEqual(['starting', run, 'removed'])
    expect(outputs['run-id']).toBe('run-1')
  })
})

describe('a run that is given', () => {
  test('is waited for and not started', async () => {
    const { outcome, requests, mainFile, effects } = await step({ script: { get: [response(PASSED)] }, ...GIVEN })
    expect(outcome).toMatchObject({ conclusion: 'passed', success: true, subject: { ownsRun: false } })
    expect(outcome.subject.parameters).toEqual({})
    expect(requests).toEqual(['get'])
    expect(effects.slice(1, 3)).toEqual(['output run-id=run-1', 'output status=PASSED'])
    expect(mainFile).toEqual(['started run-1, not to be cancelled', 'removed'])
  })

  test('goes on when the step is cancelled, unless cancel-on-abort is true', async () => {
    const setting = { script: { get: [noResponse], cancel: CANCEL }, ...GIVEN, signalAtMs: 1_000 }
    const left = await step(setting)
    expect(left.outcome.conclusion).toBe('cancelled')
    expect(left.requests).toEqual(['get'])
    expect(left.error).toMatch(/run-1.*may still be running/)
    expect((await step({ ...setting, mayCancel: true })).requests).toEqual(['get', 'cancel'])
  })

  test('and that the service does not know ends the step after 15 s, also if cancel-on-abort is true', async () => {
    const { outcome, endedMs, mainFile, requests } = await step({
      script: { get: [NOT_FOUND], cancel: [NOT_FOUND] },
      ...GIVEN,
      mayCancel: true,
    })
    expect(outcome).toMatchObject({ conclusion: 'error', cancellation: { kind: 'not-found' } })
    expect(mainFile).toEqual(['started run-1', 'removed'])
    expect(requests.slice(-2)).toEqual(['cancel', 'get'])
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
    expect(endedMs).toBeLessThan(30_000)
  })
})

describe('when the step is cancelled', () => {
  test('while it polls, the run is cancelled, and the output status says so after the service confirms it', async () => {
    const { outcome, endedMs, mainFile, outputs, error, requests } = await step({
      script: { start: STARTED, get: [response(RUNNING), noResponse], cancel: [response(true, 80)] },
      signalAtMs: 5_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(endedMs).toBe(5_080)
    expect(requests).toEqual(['start', 'get', 'get', 'cancel'])
    expect(mainFile).toEqual(['starting', 'started run-1', 'removed'])
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'cancelled' })
    expect(error).toContain('run-1')
  })

  test('a status that the cancel finds is an output at once, because the step may be killed', async () => {
    const { effects, outcome } = await step({
      script: { start: [response('run-1', 500)], get: [response(RUNNING)], cancel: [failure(NOT_LISTED), noResponse] },
      signalAtMs: 100,
    })
    expect(effects).toContain('output status=RUNNING')
    expect(effects.indexOf('output status=RUNNING')).toBeLessThan(effects.indexOf('output conclusion=cancelled'))
    expect(outcome).toMatchObject({ run: RUNNING, cancellation: { kind: 'failed' } })
    expect(effects).not.toContain('file removed')
  })
})

test('the limit of the wait counts from the beginning of the start, fails the step and cancels the run', async () => {
  const { outcome, requests, mainFile, outputs, world } = await step({
    script: { start: [response('run-1', 20_000)], get: [response(QUEUED)], cancel: CANCEL },
  })
  expect(outcome).toMatchObject({ conclusion: 'wait-timeout', success: false })
  expect(requests.at(-1)).toBe('cancel')
  expect(mainFile).toEqual(['starting', 'started run-1', 'removed'])
  expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'wait-timeout' })
  expect(world.effects.find(({ text }) => text.includes('Cancelling'))?.atMs).toBe(SETTINGS.waitLimitMs)
})

test('the limit of the wait counts also what main reads before the start, such as a large baseline', async () => {
  const { outcome, endedMs } = await step({
    script: { start: STARTED, get: [response(RUNNING)], cancel: CANCEL },
    readingMs: 50_000,
  })
  expect(outcome.conclusion).toBe('wait-timeout')
  expect(endedMs).toBe(SETTINGS.waitLimitMs - 50_000)
})

test('the cancel after the limit of the wait is tried for up to 15 s, and post tries it again', async () => {
  const cancel = [failure(statusFailure(503))]
  const { outcome, endedMs, mainFile } = await step({ script: { start: STARTED, get: [response(RUNNING)], cancel } })
  expect(outcome).toMatchObject({ conclusion: 'wait-timeout', cancellation: { kind: 'failed' } })
  // No try begins in the last second.
  expect(endedMs).toBe(SETTINGS.waitLimitMs + 14_000)
  expect(mainFile).toEqual(['starting', 'started run-1'])
})

test('a run that has finished when the step gives it up has all its output in the log before the verdict', async () => {
  const whole = 'adds\npays\n'
  const { outcome, effects } = await step({
    script: {
      start: STARTED,
      get: [
        response({ ...RUNNING, outputBytes: 5 }),
        response({ ...RUNNING, outputBytes: 5 }),
        response({ ...PASSED, outputBytes: 10 }),
      ],
      cancel: [failure(NOT_LISTED)],
      output: (from) => response({ text: untrusted(whole.slice(from, from + 5)), next: from + 5 }),
    },
    showOutput: true,
    waitLimitMs: 3_000,
    pollIntervalMs: 10_000,
  })
  expect(outcome.conclusion).toBe('passed')
  // The outputs are known before the rest is read, which may take 10 s. Until then, main watches its file, which says whether the job has ended.
  const shown = effects.filter((text) => /^info (adds|pays)|^output total|^file removed/.test(text))
  expect(shown).toEqual(['info adds', 'output total=2', 'info pays', 'file removed'])
})

describe('a run that only the cancel finds finished', () => {
  const cancelled = { start: STARTED, cancel: [failure(NOT_LISTED)] }

  test('counts as finished at the limit of the wait', async () => {
    const script = { ...cancelled, get: [response(RUNNING), response(RUNNING), response(PASSED)] }
    const { outcome } = await step({ script, waitLimitMs: 3_000, pollIntervalMs: 10_000 })
    expect(outcome).toMatchObject({ ending: { kind: 'finished' }, cancellation: { kind: 'none' } })
    expect(outcome).toMatchObject({ run: PASSED, conclusion: 'passed', success: true })
  })

  test.each([
    ['the step was aborted', 'cancelled', { get: [noResponse, response(PASSED)] }, 1_000],
    ['polls failed', 'error', { get: [failure(statusFailure(401)), response(PASSED)] }, undefined],
  ])('is in the reports if %s, and the conclusion is %s', async (_, conclusion, get, signalAtMs) => {
    const { outcome } = await step({ script: { ...cancelled, ...get }, signalAtMs })
    expect(outcome).toMatchObject({ run: PASSED, cancellation: { kind: 'already-finished' } })
    expect(outcome).toMatchObject({ conclusion, success: false, counts: { total: 2 } })
  })
})

test('a workflow without a cancel says so with the id. Then nothing is left for post', async () => {
  const { outcome, effects, error } = await step({ script: { start: STARTED, get: [noResponse] }, signalAtMs: 1_000 })
  expect(outcome.conclusion).toBe('cancelled')
  expect(error).toMatch(/run-1.*cannot cancel/)
  expect(effects).not.toContainEqual(expect.stringContaining('Cancelling'))
  expect(effects.at(-1)).toBe('file removed')
})
