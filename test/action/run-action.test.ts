import { describe, expect, test } from 'vitest'
import type { AbortCause } from '../../src/action/abort.ts'
import { runAction, type StepRequest } from '../../src/action/run-action.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import { countTestCases } from '../../src/outcome/run.ts'
import { aRun, testCasesBy } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  giving,
  noResponse,
  PASSED,
  QUEUED,
  RUNNING,
  response,
  type Script,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const REQUEST: StepRequest = {
  target: { kind: 'project', projectId: 'web-shop' },
  parameters: { branch: 'main' },
  wait: true,
  waitLimitMs: 60_000,
  cancelOnAbort: true,
  passWithNoTests: false,
  labels: ['checkout'],
  job: { name: 'e2e', url: 'https://github.com/o/r/actions/runs/1/job/2' },
  reports: { summary: 'never', annotations: true },
}
const GIVEN: Partial<StepRequest> = { runId: 'run-1', cancelOnAbort: false }

const LOST: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
const REFUSED: Failure = { kind: 'status', status: 401 }
const CANCELLED = aRun({ status: 'CANCELLED' })
const STARTED = [response('run-1', 100)]

interface Setting extends Partial<StepRequest> {
  readonly script: Script
  readonly signalAtMs?: number
  readonly signal?: AbortCause
}

async function step({ script, signalAtMs, signal, ...request }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs, signal)
  const outcome = await clock.run(runAction({ ...REQUEST, ...request }, world))
  return {
    outcome,
    endedMs: clock.now(),
    requests: service.requests.map(({ method }) => method),
    state: world.texts('state '),
    outputs: world.outputs(),
    error: world.texts('error ')[0],
    effects: world.effects.map(({ text }) => text),
    world,
  }
}

describe('a run that is started and waited for', () => {
  test('has these effects in this order: what post needs, the id, each status, the verdict', async () => {
    const { outcome, effects } = await step({
      script: { start: STARTED, get: [response(QUEUED), response(RUNNING), response(PASSED)] },
    })
    expect(outcome).toMatchObject({ conclusion: 'passed', success: true })
    expect(effects).toEqual([
      'state start',
      'state run run-1',
      'output run-id=run-1',
      'info Run run-1 was started',
      'info Run run-1: QUEUED',
      'output status=QUEUED',
      'info Run run-1: RUNNING',
      'output status=RUNNING',
      'info Run run-1: PASSED',
      'output status=PASSED',
      'state done',
      'output conclusion=passed',
      'output status=PASSED',
      'output duration-ms=184000',
      'output total=2',
      'output passed=2',
      'output failed=0',
      'output flaky=0',
      'output skipped=0',
      'output other=0',
      expect.stringMatching(/^info .*run-1.*PASSED/),
      'files results.json junit.xml ctrf.json summary.md of run-1',
      'output report-dir=/reports',
      'comment',
    ])
  })

  test('gives the reports what was asked, what came and how long it took', async () => {
    const { outcome, world } = await step({
      script: { start: STARTED, get: [response(QUEUED), response(PASSED, 50)] },
      pollIntervalMs: 1_000,
    })
    expect(outcome).toEqual({
      ending: { kind: 'finished', run: PASSED },
      run: PASSED,
      conclusion: 'passed',
      success: true,
      counts: countTestCases(PASSED.testCases ?? []),
      runId: 'run-1',
      runUrl: undefined,
      cancellation: { kind: 'not-wanted' },
      waitedMs: 1_150,
      queuedMs: 1_050,
      subject: {
        target: REQUEST.target,
        parameters: REQUEST.parameters,
        ownsRun: true,
        labels: REQUEST.labels,
        job: REQUEST.job,
      },
    })
    expect(world.outcomes).toEqual([outcome])
  })

  test('has its page in the log, an output and the outcome if the user gave a template of it', async () => {
    const runUrl = (runId: string) => `https://app.example.com/runs/${runId}`
    const url = 'https://app.example.com/runs/run-1'
    const script = { start: STARTED, get: [response(PASSED)] }
    const { effects, outputs, outcome } = await step({ script, runUrl })
    expect(effects).toContain(`info Run run-1 was started: ${url}`)
    expect(outputs['run-url']).toBe(url)
    expect(outcome.runUrl).toBe(url)

    const early = await step({ script, runUrl, wait: false })
    expect(early.outputs['run-url']).toBe(url)
    const given = await step({ script, runUrl, ...GIVEN })
    expect(given.effects).toContain(`info Run run-1: ${url}`)
    expect(given.outputs['run-url']).toBe(url)
  })

  test.each([
    ['FAILED', 'failed'],
    ['TIMEDOUT', 'timed-out'],
    ['CANCELLED', 'cancelled'],
    ['INTERRUPTED', 'interrupted'],
    ['EXPLODED', 'error'],
  ])('and ends %s, fails the step and is left alone', async (status, conclusion) => {
    const { outcome, requests, state, outputs, error } = await step({
      script: { start: STARTED, get: [response(aRun({ status }))] },
    })
    expect(outcome).toMatchObject({ conclusion, success: false })
    expect(requests).toEqual(['start', 'get'])
    expect(state.at(-1)).toBe('done')
    expect(outputs).toMatchObject({ conclusion, status: status === 'EXPLODED' ? 'UNKNOWN' : status })
    expect(error).toContain('run-1')
  })

  test('and has no case that ran, fails the step unless that is allowed', async () => {
    for (const testCases of [undefined, [], testCasesBy({ SKIPPED: 3 })]) {
      const script = { start: STARTED, get: [response(aRun({ testCases }))] }
      expect((await step({ script })).outcome).toMatchObject({ conclusion: 'no-tests', success: false })
      expect((await step({ script, passWithNoTests: true })).outcome).toMatchObject({
        conclusion: 'no-tests',
        success: true,
      })
    }
  })
})

describe('a run right after its start', () => {
  test('may not be known yet to what responds to the polls', async () => {
    const { outcome } = await step({
      script: { start: STARTED, get: [failure({ kind: 'status', status: 404 }), response(PASSED)] },
    })
    expect(outcome.conclusion).toBe('passed')
  })
})

describe('a start that the service did not take', () => {
  test('is sent again within the limit of the wait, whatever the clock says', async () => {
    const clock = new FakeClock()
    await clock.run(clock.sleep(1_000_000))
    const refused = failure({ kind: 'not-sent', reason: 'connect ECONNREFUSED' })
    const service = new FakeService(clock, { start: [refused, response('run-1', 100)], get: [response(PASSED)] })
    const outcome = await clock.run(runAction(REQUEST, new FakeWorld(clock, service)))
    expect(outcome).toMatchObject({ conclusion: 'passed', waitedMs: 750 + 100 })
  })
})

describe('a start that fails', () => {
  test('with a refusal is an error, and nothing is left for post', async () => {
    const { outcome, requests, state, outputs, error } = await step({ script: { start: [failure(REFUSED)] } })
    expect(outcome).toMatchObject({ conclusion: 'error', success: false, cancellation: { kind: 'no-run' } })
    expect(requests).toEqual(['start'])
    expect(state).toEqual(['start', 'done'])
    expect(outputs).toEqual({ conclusion: 'error' })
    expect(error).toContain('401')
    expect(error).not.toContain('may have been started')
  })

  test('without a response is an error that says that a run may have been started', async () => {
    const { outcome, error, requests } = await step({ script: { start: [failure(LOST)] } })
    expect(outcome).toMatchObject({ conclusion: 'error', success: false })
    expect(requests).toEqual(['start'])
    expect(error).toContain('may have been started')
  })

  test('without a response is no longer post’s business only after the verdict is published', async () => {
    const { effects } = await step({ script: { start: [failure(LOST)] } })
    const verdict = effects.findIndex((text) => text.startsWith('error '))
    expect(verdict).toBeGreaterThan(0)
    expect(effects.indexOf('state done')).toBeGreaterThan(verdict)
  })
})

describe('an id that cannot be used', () => {
  const UNUSABLE = ['run 1', '..', '', 'a?b', 'x'.repeat(257), 'run\n1']

  test.each(
    UNUSABLE.filter((id) => id !== ''),
  )('cancels its run and ends the step without showing it as an output: %j', async (id) => {
    const { outcome, requests, state, outputs, error } = await step({
      script: { start: [response(id)], cancel: [response(true)] },
      cancelOnAbort: false,
    })
    expect(outcome).toMatchObject({ conclusion: 'error', success: false })
    expect(requests).toEqual(['start', 'cancel'])
    expect(state).toEqual(['start', `run ${id}`, 'done'])
    expect(outputs).toEqual({ conclusion: 'error' })
    expect(error).toContain('run id of at most 256')
  })

  test('stays post’s business if its run could not be cancelled, and is named', async () => {
    const { outcome, state, error } = await step({ script: { start: [response('run 1')], cancel: [failure(REFUSED)] } })
    expect(outcome.conclusion).toBe('error')
    expect(state).toEqual(['start', 'run run 1'])
    expect(error).toContain('run 1')
    expect(error).toContain('may still be running')
  })

  test('is named also if the step is cancelled meanwhile', async () => {
    const { error, endedMs } = await step({
      script: { start: [response('run 1')], cancel: [noResponse] },
      signalAtMs: 1_000,
      signal: 'SIGTERM',
    })
    expect(error).toContain('run 1')
    expect(endedMs).toBeLessThanOrEqual(1_000 + 2_200)
  })

  test('that is empty leaves nothing to cancel, and the message says so', async () => {
    const { outcome, requests, error, state } = await step({
      script: { start: [response('')], cancel: [response(true)] },
    })
    expect(outcome.conclusion).toBe('error')
    expect(requests).toEqual(['start'])
    expect(state).toEqual(['start', 'done'])
    expect(error).toContain('may have been started')
  })
})

describe('wait: false', () => {
  test('ends the step with success once the run is started, and gives the run back', async () => {
    const { outcome, requests, state, outputs } = await step({ script: { start: STARTED }, wait: false })
    expect(outcome).toMatchObject({ conclusion: 'started', success: true })
    expect(requests).toEqual(['start'])
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs).toEqual({ 'run-id': 'run-1', conclusion: 'started' })
  })

  test('with a cancel in the middle of the start cancels the run', async () => {
    const { outcome, requests, state, outputs } = await step({
      script: { start: [response('run-1', 3_000)], cancel: [response(true)] },
      wait: false,
      signalAtMs: 1_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(requests).toEqual(['start', 'cancel'])
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'cancelled' })
  })

  test('with a cancel in the middle of the start leaves the run if cancel-on-abort is false, and knows its id', async () => {
    const { outcome, requests, state, outputs } = await step({
      script: { start: [response('run-1', 3_000)], cancel: [response(true)] },
      wait: false,
      cancelOnAbort: false,
      signalAtMs: 1_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(requests).toEqual(['start'])
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs['run-id']).toBe('run-1')
  })

  test('with a start that gets no response fails the step', async () => {
    const { outcome } = await step({ script: { start: [noResponse] }, wait: false })
    expect(outcome).toMatchObject({ conclusion: 'error', success: false })
  })
})

describe('a run that is given', () => {
  test('is waited for and not started', async () => {
    const { outcome, requests, state, effects } = await step({ script: { get: [response(PASSED)] }, ...GIVEN })
    expect(outcome).toMatchObject({ conclusion: 'passed', success: true })
    expect(requests).toEqual(['get'])
    expect(effects.slice(1, 3)).toEqual(['output run-id=run-1', 'info Run run-1: PASSED'])
    expect(state).toEqual(['run run-1', 'done'])
    expect(outcome.subject.ownsRun).toBe(false)
  })

  test('goes on when the step is cancelled', async () => {
    const { outcome, requests, error } = await step({
      script: { get: [noResponse] },
      ...GIVEN,
      signalAtMs: 1_000,
    })
    expect(outcome.conclusion).toBe('cancelled')
    expect(requests).toEqual(['get'])
    expect(error).toMatch(/run-1.*(still|continue|going|running)/i)
  })

  test('is cancelled with the step if cancel-on-abort says so, by post too', async () => {
    const { requests, state } = await step({
      script: { get: [noResponse], cancel: [response(true)] },
      ...GIVEN,
      cancelOnAbort: true,
      signalAtMs: 1_000,
    })
    expect(requests).toEqual(['get', 'cancel'])
    expect(state).toEqual(['run run-1', 'done'])
  })

  test('and is not known ends the step at once, also if it was to be cancelled', async () => {
    const notFound = failure({ kind: 'status', status: 404 })
    const { outcome, endedMs, state } = await step({
      script: { get: [notFound], cancel: [notFound] },
      ...GIVEN,
      cancelOnAbort: true,
    })
    expect(outcome.conclusion).toBe('error')
    expect(state).toEqual(['run run-1', 'done'])
    expect(endedMs).toBeLessThan(10)
  })
})

describe('when the step is cancelled', () => {
  test('while it polls, the run is cancelled, and the status says so once that is confirmed', async () => {
    const { outcome, endedMs, state, outputs, error, requests } = await step({
      script: { start: STARTED, get: [response(RUNNING), noResponse], cancel: [response(true, 80)] },
      signalAtMs: 5_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(endedMs).toBe(5_080)
    expect(requests).toEqual(['start', 'get', 'get', 'cancel'])
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'cancelled' })
    expect(error).toContain('run-1')
  })

  test('the status that only the cancel finds out is known too', async () => {
    const { outputs, outcome } = await step({
      script: { start: [response('run-1', 500)], get: [response(RUNNING)], cancel: [response(false), noResponse] },
      signalAtMs: 100,
    })
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'RUNNING', conclusion: 'cancelled' })
    expect(outcome).toMatchObject({ run: RUNNING, cancellation: { kind: 'failed' } })
  })

  test('that status is an output the moment it is known, because the step may be killed before its end', async () => {
    const clock = new FakeClock()
    const service = new FakeService(clock, {
      start: [response('run-1', 500)],
      get: [response(RUNNING)],
      cancel: [response(false), noResponse],
    })
    const world = new FakeWorld(clock, service)
    world.signalAt(100)
    const running = runAction(REQUEST, world)
    await clock.run(clock.sleep(2_000))
    expect(world.outputs()).toEqual({ 'run-id': 'run-1', status: 'RUNNING' })
    await clock.run(running)
  })

  test('before anything was sent, nothing is', async () => {
    const clock = new FakeClock()
    const service = new FakeService(clock, {})
    const world = new FakeWorld(clock, service)
    world.signalAt(0)
    await clock.run(clock.sleep(1))
    expect(await clock.run(runAction(REQUEST, world))).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(service.requests).toEqual([])
    expect(world.texts('state ')).toEqual(['start', 'done'])
  })

  test('in the start, its response is awaited and its run cancelled without a poll', async () => {
    const { requests, state, outputs, endedMs } = await step({
      script: { start: [response('run-1', 6_900)], cancel: [response(true, 100)] },
      signalAtMs: 1_000,
    })
    expect(requests).toEqual(['start', 'cancel'])
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'cancelled' })
    expect(endedMs).toBe(7_000)
  })

  test('in a start that gets no response, the message says that a run may have been started', async () => {
    const { outcome, state, error, endedMs } = await step({ script: { start: [noResponse] }, signalAtMs: 1_000 })
    expect(outcome.conclusion).toBe('cancelled')
    expect(error).toContain('may have been started')
    expect(state).toEqual(['start', 'done'])
    expect(endedMs).toBe(10_000)
  })

  test.each([
    ['SIGINT', 7_000],
    ['SIGTERM', 2_200],
  ] as const)('by %s and the service is silent, it ends within %i ms and leaves the run to post', async (signal, limitMs) => {
    const { outcome, endedMs, state, error } = await step({
      script: { start: STARTED, get: [response(RUNNING), noResponse], cancel: [noResponse] },
      signalAtMs: 5_000,
      signal,
    })
    expect(outcome.conclusion).toBe('cancelled')
    expect(endedMs - 5_000).toBeLessThanOrEqual(limitMs)
    expect(state).toEqual(['start', 'run run-1'])
    expect(error).toMatch(/run-1.*may still be running/)
  })

  test('and the run had already finished, the step is cancelled all the same and the status is the true one', async () => {
    const { outcome, outputs, state } = await step({
      script: { start: STARTED, get: [response(RUNNING), noResponse, response(PASSED)], cancel: [response(false)] },
      signalAtMs: 5_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'cancelled', success: false })
    expect(outputs).toMatchObject({ status: 'PASSED', total: '2' })
    expect(state.at(-1)).toBe('done')
  })
})

describe('the limit of the wait', () => {
  test('fails the step, and the run is cancelled', async () => {
    const { outcome, requests, state, outputs, error } = await step({
      script: { start: STARTED, get: [response(RUNNING)], cancel: [response(true)] },
    })
    expect(outcome).toMatchObject({ conclusion: 'wait-timeout', success: false })
    expect(requests.at(-1)).toBe('cancel')
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'wait-timeout' })
    expect(error).toContain('run-1')
  })

  test('counts from the beginning of the start', async () => {
    const { world } = await step({
      script: { start: [response('run-1', 20_000)], get: [response(RUNNING)], cancel: [response(true)] },
    })
    const cancelling = world.effects.find(({ text }) => text.includes('cancelling'))
    expect(cancelling?.atMs).toBe(REQUEST.waitLimitMs)
  })

  test.each([
    ['PASSED', 'passed', true],
    ['FAILED', 'failed', false],
    ['CANCELLED', 'cancelled', false],
  ])('gives way to the true verdict if the cancel finds the run %s', async (status, conclusion, success) => {
    const polls = [response(RUNNING), response(RUNNING), response(aRun({ status }))]
    const { outcome, outputs, state } = await step({
      script: { start: STARTED, get: polls, cancel: [response(false)] },
      waitLimitMs: 1_000,
    })
    expect(outcome).toMatchObject({ conclusion, success })
    expect(outputs).toMatchObject({ conclusion, status })
    expect(state.at(-1)).toBe('done')
  })

  test('does not give way to the step’s own cancel whose response was lost', async () => {
    const polls = [response(RUNNING), response(RUNNING), response(CANCELLED)]
    const { outcome, outputs } = await step({
      script: { start: STARTED, get: polls, cancel: [failure(LOST), response(false)] },
      waitLimitMs: 1_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'wait-timeout', success: false })
    expect(outputs).toMatchObject({ status: 'CANCELLED' })
  })

  test('leaves a run alone if cancel-on-abort is false', async () => {
    const { outcome, requests, state, error } = await step({
      script: { start: STARTED, get: [response(RUNNING)], cancel: [response(true)] },
      cancelOnAbort: false,
    })
    expect(outcome.conclusion).toBe('wait-timeout')
    expect(requests).not.toContain('cancel')
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(error).toContain('run-1')
  })

  test('gives the cancel 15 s, and then leaves the run to post', async () => {
    const { outcome, endedMs, state, error } = await step({
      script: { start: STARTED, get: [response(RUNNING)], cancel: [noResponse] },
    })
    expect(outcome.conclusion).toBe('wait-timeout')
    expect(endedMs).toBeGreaterThan(REQUEST.waitLimitMs + 14_000)
    expect(endedMs).toBeLessThanOrEqual(REQUEST.waitLimitMs + 15_100)
    expect(state).toEqual(['start', 'run run-1'])
    expect(error).toMatch(/run-1.*may still be running/)
  })

  test('shortens its cancel when a signal comes in the middle of it', async () => {
    const { outcome, endedMs, requests } = await step({
      script: { start: STARTED, get: [response(RUNNING)], cancel: [noResponse, response(true)] },
      signalAtMs: 62_000,
    })
    expect(outcome.conclusion).toBe('wait-timeout')
    expect(endedMs).toBe(62_000)
    expect(requests.filter((method) => method === 'cancel')).toHaveLength(2)
  })
})

describe('the limit of the queue', () => {
  test('ends the step with the conclusion of a wait that took too long, and the run is cancelled', async () => {
    const { outcome, outputs, requests } = await step({
      script: { start: STARTED, get: [response(QUEUED)], cancel: [response(true)] },
      queueLimitMs: 5_000,
    })
    expect(outcome).toMatchObject({
      ending: { kind: 'wait-timeout', limit: { input: 'queue-timeout-minutes', ms: 5_000 } },
      conclusion: 'wait-timeout',
      success: false,
      queuedMs: 5_000,
    })
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'wait-timeout' })
    expect(requests.at(-1)).toBe('cancel')
  })

  test('is added to the limit of the wait', async () => {
    const { outcome, endedMs } = await step({
      script: {
        start: STARTED,
        get: [...Array(60).fill(response(QUEUED)), response(RUNNING)],
        cancel: [response(true)],
      },
      queueLimitMs: 600_000,
      pollIntervalMs: 1_000,
    })
    expect(outcome).toMatchObject({ ending: { limit: { input: 'timeout-minutes', ms: 60_000 } }, queuedMs: 60_000 })
    expect(endedMs).toBe(2 * 60_000)
  })
})

describe('a run that the service does not know any more', () => {
  test('leaves nothing to cancel, for post neither', async () => {
    const notFound = failure({ kind: 'status', status: 404 })
    const { outcome, state, error } = await step({
      script: { start: STARTED, get: [...Array(30).fill(response(RUNNING)), notFound], cancel: [notFound] },
      pollIntervalMs: 1_000,
    })
    expect(outcome).toMatchObject({ conclusion: 'error', cancellation: { kind: 'not-found' } })
    expect(state.at(-1)).toBe('done')
    expect(error).toContain('404')
  })
})

describe('a poll that fails for good', () => {
  test('is an error, and the run is cancelled', async () => {
    const { outcome, requests, state, outputs, error } = await step({
      script: { start: STARTED, get: [response(RUNNING), failure(REFUSED)], cancel: [response(true)] },
    })
    expect(outcome).toMatchObject({ conclusion: 'error', success: false })
    expect(requests).toEqual(['start', 'get', 'get', 'cancel'])
    expect(state).toEqual(['start', 'run run-1', 'done'])
    expect(outputs).toEqual({ 'run-id': 'run-1', status: 'CANCELLED', conclusion: 'error' })
    expect(error).toMatch(/run-1.*401/)
  })

  test('is an error also if the cancel finds that the run has passed', async () => {
    const { outcome, outputs } = await step({
      script: { start: STARTED, get: [failure(REFUSED), response(PASSED)], cancel: [response(false)] },
    })
    expect(outcome).toMatchObject({ conclusion: 'error', success: false })
    expect(outputs.status).toBe('PASSED')
  })
})

describe('a workflow that has no cancel', () => {
  test('says so with the id, and only then that nothing is left for post', async () => {
    const { outcome, effects, error } = await step({ script: { start: STARTED, get: [noResponse] }, signalAtMs: 1_000 })
    expect(outcome.conclusion).toBe('cancelled')
    expect(error).toMatch(/run-1.*no cancel/)
    expect(effects).not.toContainEqual(expect.stringContaining('cancelling it'))
    const verdict = effects.findIndex((text) => text.startsWith('error '))
    expect(effects.indexOf('state done')).toBeGreaterThan(verdict)
  })
})

test('a bug in the action leaves the run to post', async () => {
  const clock = new FakeClock()
  const give = () => {
    throw new Error('a bug of our own')
  }
  const service = new FakeService(clock, { start: STARTED, get: [giving(give)] })
  const world = new FakeWorld(clock, service)
  await expect(clock.run(runAction(REQUEST, world))).rejects.toThrow('a bug of our own')
  expect(world.texts('state ')).toEqual(['start', 'run run-1'])
})
