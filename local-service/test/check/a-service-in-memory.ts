import type { Send } from '../../src/check/exchange.ts'

export const KEY = 'a-key-for-checks'
export const PROJECTS = ['shop', 'other']

type Fields = Readonly<Record<string, unknown>>
type Request = Parameters<Send>[0]

export interface ServiceRun {
  readonly id: unknown
  readonly number: number
  readonly project: string
  readonly fields: Fields
  readonly queuedAtMs: number
  status: string
  startedAtMs?: number
  finishedAtMs?: number
  /** How often it was read. */
  reads: number
}

export interface Sent {
  readonly status: number
  readonly body: unknown
  /** In place of the JSON of the body. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In place of a response. */
  readonly failure?: string
}

/** What a service decides. A fault replaces some of it. */
export interface Behaviour {
  isKey(header: string): boolean
  /** What is wrong with the parsed body of a start. */
  refuse(body: unknown): string | undefined
  parse(body: string | Buffer): unknown
  hasProject(id: string): boolean
  idOf(number: number): unknown
  /** What it shows of a run. */
  describe(run: ServiceRun): Fields
  /** Ends what a cancel of this project's run ends, and returns what the response lists. */
  cancel(where: unknown, runs: readonly ServiceRun[], project: string, nowMs: number): readonly ServiceRun[] | Sent
  /** What it sends in place of the right response. */
  send(right: Sent, request: Request, run: ServiceRun | undefined): Partial<Sent> | undefined
}

const iso = (ms: number) => new Date(ms).toISOString()
const isId = (id: unknown, text: unknown) => id === text || (typeof id === 'number' && `${id}` === text)
const refusal = (status: number, error: string): Sent => ({ status, body: { error } })
export const isFinished = ({ status }: ServiceRun) => status !== 'QUEUED' && status !== 'RUNNING'
const STRINGS = ['environment', 'environmentName', 'frameworkProjectName', 'runGroupName', 'branch']

const PLACE = { filePath: 'test/cart.spec.ts', line: 7 }
export const CASE = { title: 'adds', status: 'FLAKY', durationMs: 12, message: 'expected 2 to be 1', ...PLACE }
const CASES = [CASE, { title: 'removes', status: 'SKIPPED' }]

export const RIGHT: Behaviour = {
  isKey: (header) => header === `Bearer ${KEY}`,
  parse: (body) => JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body)),
  refuse: (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body is no object.'
    const { envOverrides = {}, autofix = false, branch = 'main' } = body as Fields
    const isText = STRINGS.every((name) => ['string', 'undefined'].includes(typeof (body as Fields)[name]))
    if (!isText || typeof envOverrides !== 'object' || typeof autofix !== 'boolean') return 'A field has a wrong type.'
    const length = [...String(branch)].length
    return length < 1 || length > 255 ? 'The branch has a wrong length.' : undefined
  },
  hasProject: (id) => PROJECTS.includes(id),
  idOf: (number) => `run-${number}`,
  describe: ({ status, startedAtMs, finishedAtMs, fields: { branch = 'main' } }) => ({
    status,
    startedAt: startedAtMs === undefined ? null : iso(startedAtMs),
    ...(finishedAtMs !== undefined && { finishedAt: iso(finishedAtMs) }),
    branchName: String(branch),
    ...(finishedAtMs !== undefined && { results: { testCases: status === 'PASSED' ? CASES : [] } }),
    ...(status === 'CANCELLED' && { message: 'Somebody cancelled the run.' }),
  }),
  cancel: (where, runs, project, nowMs) => {
    const { runId } = Object(where)
    const run = runs.find((one) => one.project === project && isId(one.id, runId))
    if (where === undefined) return refusal(400, 'There is no "where".')
    if (run === undefined) return refusal(404, 'There is no such run.')
    if (isFinished(run)) return refusal(400, 'The run is finished.')
    Object.assign(run, { status: 'CANCELLED', finishedAtMs: nowMs })
    return [run]
  },
  send: () => undefined,
}

const RUN_MS = 30_000
const CONCURRENCY = 2

/** A service and its clock: each request takes 100 ms, and two runs at once take 30 s each. */
export function createService(faults: Partial<Behaviour> = {}) {
  const is: Behaviour = { ...RIGHT, ...faults }
  const runs: ServiceRun[] = []
  const suites: { readonly finishesAtMs: number }[] = []
  const requests: Request[] = []
  let nowMs = Date.UTC(2026, 0, 1)

  function advance(ms: number): void {
    nowMs += ms
    for (const run of runs) {
      if (run.status === 'RUNNING' && nowMs >= (run.startedAtMs ?? 0) + RUN_MS) {
        Object.assign(run, { status: 'PASSED', finishedAtMs: (run.startedAtMs ?? 0) + RUN_MS })
      }
    }
    for (const run of runs) {
      const running = runs.filter(({ status }) => status === 'RUNNING').length
      if (run.status === 'QUEUED' && running < CONCURRENCY)
        Object.assign(run, { status: 'RUNNING', startedAtMs: nowMs })
    }
  }

  function start(project: string, body: string | Buffer): Sent {
    let fields: unknown
    try {
      fields = is.parse(body)
    } catch {
      return refusal(400, 'The body is not JSON.')
    }
    const problem = is.refuse(fields)
    if (problem !== undefined) return refusal(400, problem)
    const number = runs.length + 1
    const run = { id: is.idOf(number), number, project, fields: Object(fields), queuedAtMs: nowMs, reads: 0 }
    runs.push({ ...run, status: 'QUEUED' })
    advance(0)
    return { status: 200, body: { runId: run.id } }
  }

  function suite(parts: readonly string[]): Sent {
    const [, kind, id = '', what] = parts
    if (kind === 'testSuite') {
      if (id !== 'smoke') return refusal(404, 'There is no such suite.')
      suites.push({ finishesAtMs: nowMs + RUN_MS })
      return {
        status: 200,
        body: { testSuiteRunId: `suite-${suites.length}`, testSuiteName: 'Smoke', projectId: 'shop' },
      }
    }
    const run = suites[Number(id.replace('suite-', '')) - 1]
    if (run === undefined) return refusal(404, 'There is no such run.')
    const status = nowMs >= run.finishesAtMs ? 'FINISHED' : 'RUNNING'
    return { status: 200, body: what === 'status' ? { status } : { testSuiteName: 'Smoke', results: [] } }
  }

  function handle({ credentials, method, path, body = '' }: Request): Sent {
    if (!is.isKey(credentials === undefined ? `Bearer ${KEY}` : (credentials.header ?? ''))) return refusal(401, 'Who?')
    const parts = path.slice(1).split('/').map(decodeURIComponent)
    const [, kind, project = '', , id] = parts
    if (kind !== 'projects') return suite(parts)
    if (!is.hasProject(project)) return refusal(404, 'There is no such project.')
    if (method === 'GET') {
      const run = runs.find((one) => isId(one.id, id) && one.project === project)
      if (run === undefined) return refusal(404, 'There is no such run.')
      run.reads++
      return { status: 200, body: is.describe(run) }
    }
    if (id === undefined) return start(project, body)
    const cancelled = is.cancel(JSON.parse(String(body)).where, runs, project, nowMs)
    if ('status' in cancelled) return cancelled
    return { status: 200, body: { cancelled: cancelled.map((run) => ({ runId: run.id })) } }
  }

  const send: Send = async (request) => {
    advance(100)
    requests.push(request)
    const right = handle(request)
    const run = runs.find((one) => isId(one.id, request.runId))
    const { status, body, text, headers, failure } = { ...right, ...is.send(right, request, run) }
    if (failure !== undefined) return { failure }
    const json = text === undefined ? { json: JSON.parse(JSON.stringify(body)) } : {}
    const response = {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      text: text ?? JSON.stringify(body),
    }
    return { response: { ...response, ...json } }
  }
  const sleep = async (ms: number, signal: AbortSignal) => {
    signal.throwIfAborted()
    advance(ms)
  }
  return { runs, requests, effects: { send, sleep, nowMs: () => nowMs } }
}
