import { describe, expect, it } from 'vitest'
import { Driver, type Target } from '../../src/check/driver.ts'
import type { Endpoint, Send } from '../../src/check/exchange.ts'
import { cancelledIn, describeLeft, jsonOf } from '../../src/check/observations.ts'
import { judge } from '../../src/check/rules.ts'
import { LIMITS, type Limits } from '../../src/check/session.ts'
import { type Behaviour, createService, isFinished, KEY, RIGHT } from './a-service-in-memory.ts'

const TARGET = { key: KEY, project: 'shop' }
const REFUSAL = { status: 400, body: { error: 'There is no such thing.' } }

function start(
  faults: Partial<Behaviour> = {},
  target: Partial<Target> = {},
  limits: Partial<Limits> = {},
  hangsOn?: Endpoint,
) {
  const { effects, runs, requests } = createService(faults)
  const lines: string[] = []
  const stop = new AbortController()
  const send: Send = async (request, signal) => {
    if (request.endpoint === hangsOn) stop.abort()
    if (!stop.signal.aborted) return effects.send(request, signal)
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return {}
  }
  const say = (line: string) => lines.push(line)
  const driver = new Driver({ ...TARGET, ...target }, { ...effects, send, say }, { ...LIMITS, ...limits }, stop.signal)
  const done = driver.run().finally(() => driver.cleanUp())
  const left = () => describeLeft(driver.exchanges)
  const broken = () => judge(driver.observations).filter(({ verdict }) => verdict === 'broken')
  const starts = () => requests.filter(({ endpoint }) => endpoint === 'start')
  return { driver, done, runs, requests, lines, stop, left, broken, starts }
}

describe('a mistake of the person who checks', () => {
  it.each([
    ['--project', { project: 'shp' }, 'There is no project "shp", or the URL is not the service\'s: 404 "'],
    ['--suite', { suite: 'smok' }, 'There is no test suite "smok": 404 "There is no such suite.".'],
    ['--environment', { environment: 'stagng' }, 'The service refuses --environment "stagng": 400 "There is no'],
    ['--framework-project', { frameworkProject: 'unt' }, 'The service refuses --framework-project "unt": 400'],
    ['--branch', { branch: 'nxt' }, 'The service refuses --branch "nxt": 400'],
  ])('in %s is a sentence about it', async (_option, target, sentence) => {
    const refuse = (body: unknown) =>
      /stagng|unt|nxt/.test(JSON.stringify(body)) ? 'There is no such thing.' : undefined
    const { done, runs } = start({ refuse: (body) => RIGHT.refuse(body) ?? refuse(body) }, target)
    await expect(done).rejects.toThrow(sentence)
    await expect(done).rejects.toMatchObject({ name: 'UsageError' })
    expect(runs.filter((run) => !isFinished(run))).toEqual([])
  })

  it('in the key is a sentence about it', async () => {
    const { done, runs } = start({ isKey: () => false })
    await expect(done).rejects.toThrow('The service refuses the API key with 401.')
    expect(runs).toEqual([])
  })

  it('is none if the service takes the value under the deprecated name', async () => {
    const { done, broken } = start(
      { refuse: (body) => RIGHT.refuse(body) ?? ('environment' in Object(body) ? 'No.' : undefined) },
      { environment: 'staging' },
    )
    await done
    expect(broken().map(({ id }) => id)).toEqual(['start-fields'])
  })

  it('is a sentence if the service requires a field that was not given', async () => {
    const { done } = start({ refuse: (body) => ('frameworkProjectName' in Object(body) ? undefined : 'No project.') })
    await expect(done).rejects.toThrow('400 "No project.". Give an option for each field that it requires.')
  })
})

describe('what a check leaves', () => {
  it('is nothing that somebody else started', async () => {
    const { done, runs, requests } = start()
    runs.push({
      id: 'not ours',
      number: 0,
      project: 'shop',
      fields: {},
      queuedAtMs: 0,
      status: 'RUNNING',
      startedAtMs: Date.UTC(2100, 0, 1),
      reads: 0,
    })
    await done
    expect(runs.filter((run) => !isFinished(run)).map(({ id }) => id)).toEqual(['not ours'])
    expect(requests.filter(({ path, body = '' }) => `${path}${body}`.includes('not ours'))).toEqual([])
  })

  it('is named, run by run', async () => {
    const { done, left, runs } = start({ cancel: () => REFUSAL })
    await done
    const unfinished = runs.filter((run) => !isFinished(run)).map(({ id }) => id)
    expect(unfinished).not.toEqual([])
    for (const id of unfinished)
      expect(left()).toContain(`The check did not see run "${id}" end. Look for it at the service.`)
  })

  it.each([
    ['an object', { toString: 0 }],
    ['nothing', undefined],
    ['an empty text', ''],
    ['half a character', '\ud800'],
    ['a path to somewhere else', '..'],
  ])('is counted if an id is %s, and no further run is started', async (_case, id) => {
    const { done, left, requests } = start({ idOf: () => id }, { suite: 'smoke' })
    await done
    expect(left()).toEqual(['Starts that were accepted, but whose ids could not be read: 1.'])
    expect(requests.filter(({ endpoint }) => endpoint.endsWith('start'))).toHaveLength(1)
  })

  it('is counted if the response to a start was lost', async () => {
    const { done, left, starts } = start({
      send: (_, { probe }) => (probe === 'start-fields' ? { failure: 'socket hang up' } : {}),
    })
    await done
    expect(left()).toEqual(['Starts that got no response, and may have started a run: 1.'])
    expect(starts()).toHaveLength(2)
  })

  it("names a test suite's run that has not finished", async () => {
    const { done, left } = start(
      { send: (_, { endpoint }) => (endpoint === 'suite-status' ? REFUSAL : {}) },
      { suite: 'smoke' },
    )
    await done
    expect(left()).toEqual([
      `The check did not see the test suite's run "suite-1" end. The interface has no cancel for it.`,
    ])
  })
})

describe('a run that the check cancels', () => {
  it('has ended before the check makes another request, also if the service takes its time', async () => {
    const reads = new Map<unknown, number>()
    const { done, driver } = start({
      describe: (run) => {
        if (run.status !== 'CANCELLED') return RIGHT.describe(run)
        const count = (reads.get(run.id) ?? 0) + 1
        reads.set(run.id, count)
        const { finishedAtMs: _, ...unfinished } = run
        return RIGHT.describe(count <= 5 ? { ...unfinished, status: 'RUNNING', startedAtMs: 0 } : run)
      },
    })
    await done
    const { exchanges } = driver.observations
    const cancels = exchanges.filter((one) => one.endpoint === 'cancel' && cancelledIn(one).length > 0)
    expect(cancels.length).toBeGreaterThan(2)
    for (const { index, runId } of cancels) {
      const later = exchanges.slice(index + 1)
      const end = later.findIndex((one) => one.runId === runId && jsonOf(one).status === 'CANCELLED')
      expect(new Set(later.slice(0, end + 1).map(({ endpoint }) => endpoint))).toEqual(new Set(['read']))
    }
  })
})

describe('the end of a check', () => {
  it('comes soon if no run can be read', async () => {
    const { done, driver, lines, requests } = start({
      send: (_, { endpoint }) => (endpoint === 'read' ? { text: '<html>' } : {}),
    })
    await done
    const [first, last] = [driver.exchanges[0], driver.observations.exchanges.at(-1)]
    expect(Number(last?.atMs) - Number(first?.atMs)).toBeLessThan(120_000)
    expect(requests.filter(({ probe }) => probe === 'cancel-finished')).toEqual([])
    // It cancels a run that it cannot read twice.
    const late = driver.exchanges.slice(driver.observations.exchanges.length).map(({ path, body }) => `${path}${body}`)
    expect(new Set(late.map((one) => late.filter((other) => other === one).length))).toEqual(new Set([2]))
    expect(lines).toEqual([...new Set(lines)])
  })

  it('comes after three requests without a response', async () => {
    const { done, requests, lines } = start({
      send: (_, { endpoint }) => (endpoint === 'cancel' ? { failure: 'no complete response within 30 s' } : {}),
    })
    await done
    expect(lines).toContain('3 requests got no complete response.')
    expect(requests.filter(({ probe }) => probe === 'key-missing')).toEqual([])
  })

  it('comes with its time, which is enough for all but the end of the first run', async () => {
    const { done, broken, lines, runs } = start({}, {}, { timeoutMs: 25_000 })
    await done
    expect(broken()).toEqual([])
    expect(lines).toContain('The time is over. Give the check more time with --timeout.')
    expect(runs.filter((run) => !isFinished(run))).toEqual([])
  })

  it('is a sentence if its time is not enough', async () => {
    const { done, runs } = start({}, {}, { timeoutMs: 3000 })
    await expect(done).rejects.toThrow('Give the check more time with --timeout.')
    expect(runs.filter((run) => !isFinished(run))).toEqual([])
  })

  it.each([
    ['start', 5],
    ['cancel', 5],
    ['cancel', 100_000],
  ] as const)('comes after Ctrl-C even if the service hangs, from a %s on', async (endpoint, cleanUpRequestMs) => {
    const limits = { lateStartMs: 5, cleanUpRequestMs, afterCtrlCMs: 20, cleanUpMs: Number.POSITIVE_INFINITY }
    const { done, left, runs } = start({}, {}, limits, endpoint)
    await expect(done).rejects.toThrow('aborted')
    const lost = 'Starts that got no response, and may have started a run: 1.'
    const named = runs.map(({ id }) => `The check did not see run "${id}" end. Look for it at the service.`)
    expect(left()).toEqual(endpoint === 'start' ? [lost] : named)
    expect(left()).not.toEqual([])
  })

  it('sends a request again that got 429, and after the time that the service names', async () => {
    let isFirst = true
    const limited = { status: 429, headers: { 'retry-after': '7' } }
    const { done, broken, driver } = start({
      send: (_, { probe }) => {
        const isLimited = probe === 'key-missing' && isFirst
        if (isLimited) isFirst = false
        return isLimited ? limited : {}
      },
    })
    await done
    const [first, second] = driver.exchanges.filter(({ probe }) => probe === 'key-missing')
    expect([first?.response?.status, second?.response?.status]).toEqual([429, 401])
    expect(Number(second?.atMs) - Number(first?.atMs)).toBeGreaterThanOrEqual(7000)
    expect(broken()).toEqual([])
  })
})
