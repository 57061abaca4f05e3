import { randomUUID } from 'node:crypto'
import { UsageError } from '../invocation.ts'
import type { Exchange, Request, Send } from './exchange.ts'
import {
  cancelledIn,
  FINAL_STATUSES,
  isAccepted,
  isPathSegment,
  isRefused,
  isUnfinished,
  jsonOf,
  lastStatus,
  type Observations,
  type Run,
  runsIn,
  STATUSES,
  show,
  startedId,
} from './observations.ts'

export interface Target {
  readonly key: string
  readonly project: string
  readonly otherProject?: string | undefined
  readonly suite?: string | undefined
  readonly environment?: string | undefined
  readonly frameworkProject?: string | undefined
  readonly branch?: string | undefined
}

export interface World {
  readonly send: Send
  nowMs(): number
  /** Rejects if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  say(line: string): void
}

export const LIMITS = {
  timeoutMs: 600_000,
  /** How long a cancelled run may take to end. */
  cancelMs: 60_000,
  /** How long a run may be unreadable before the check gives it up. */
  unreadableMs: 15_000,
  /** How long the check cancels what it started. */
  cleanUpMs: 30_000,
  /** How long one request may take while the check cancels what it started. */
  cleanUpRequestMs: 2500,
  /**
   * After Ctrl-C or the time limit, the check awaits a start in flight this long, because its response has the run's id.
   * After Ctrl-C, `stoppedMs` limits everything.
   */
  stoppedStartMs: 4000,
  stoppedMs: 9000,
  pollMs: 500,
  heartbeatMs: 30_000,
}

export type Limits = Readonly<typeof LIMITS>

/** The options that are fields of a start. */
const OPTIONS = [
  { option: '--environment', of: 'environment', name: 'environment', oldName: 'environmentName' },
  { option: '--framework-project', of: 'frameworkProject', name: 'frameworkProjectName', oldName: 'runGroupName' },
  { option: '--branch', of: 'branch', name: 'branch', oldName: undefined },
] as const

const FAILURES_LIMIT = 3
const ATTEMPTS_LIMIT = 5
const QUEUE_STARTS = 3

type Fields = Readonly<Record<string, unknown>>
type Unusual = Pick<Request, 'probe' | 'credentials'>
type Ref = Pick<Run, 'id' | 'path'>

/** Ends the requests early. The rules are judged by what was seen so far. */
class EarlyEnd extends Error {}

/** The time of --timeout has passed. */
class TimeOver extends EarlyEnd {}

/** Makes the requests of one check, one after the other, and keeps every exchange. It judges no exchange. */
export class Driver {
  readonly exchanges: Exchange[] = []
  readonly #target: Target
  readonly #world: World
  readonly #limits: Limits
  readonly #endsAtMs: number
  readonly #stop: AbortSignal
  /** Aborts on Ctrl-C, or when the time has passed. */
  readonly #end: AbortSignal
  readonly #endOfStarts: AbortSignal
  readonly #stopOfAll: AbortSignal
  readonly #path: string
  readonly #said = new Set<string>()
  #saidAtMs: number
  #mayStart = true
  /** If one run could not be read for too long, the check waits for no other run. */
  #isUnreadable = false
  #isWaiting = false
  /** How many exchanges there were when the check began to clean up. The rules are judged by these exchanges. */
  #seenCount = Infinity

  constructor(target: Target, world: World, limits: Limits, stop: AbortSignal) {
    this.#target = target
    this.#world = world
    this.#limits = limits
    this.#endsAtMs = world.nowMs() + limits.timeoutMs
    this.#stop = stop
    this.#end = AbortSignal.any([stop, AbortSignal.timeout(limits.timeoutMs)])
    this.#endOfStarts = later(this.#end, limits.stoppedStartMs)
    this.#stopOfAll = later(stop, limits.stoppedMs)
    this.#path = runsPath(target.project)
    this.#saidAtMs = world.nowMs()
  }

  get observations(): Observations {
    return { exchanges: this.exchanges.slice(0, this.#seenCount), cancelMs: this.#limits.cancelMs }
  }

  /** Throws a UsageError if the check is not possible with these options. */
  async run(): Promise<void> {
    try {
      await this.#reach()
      const base = await this.#startFirst()
      const [first] = this.#runs()
      await this.#startWithOptions(base)
      const suiteRun = await this.#startSuite()
      await this.#fillQueue(base)
      await this.#cancelRuns(first)
      if (first !== undefined) await this.#readElsewhere(first)
      await this.#sendWrongStarts(base)
      await this.#startUnknownBranches(base)
      await this.#sendWrongKeys(base, first, suiteRun)
      this.#isWaiting = true
      await this.#waitForEnds(first, suiteRun)
    } catch (error) {
      if (error instanceof TimeOver && !this.#isWaiting) throw new UsageError(error.message)
      if (!(error instanceof EarlyEnd)) throw error
      this.#say(error.message)
    }
  }

  /** Cancels every unfinished run, and reads it until it has finished. No rule is judged by these exchanges. */
  async cleanUp(): Promise<void> {
    this.#seenCount = this.exchanges.length
    const { nowMs, sleep } = this.#world
    const endsAtMs = nowMs() + this.#limits.cleanUpMs
    const exchange = (request: Request) => {
      const signals = [this.#stopOfAll, AbortSignal.timeout(this.#limits.cleanUpRequestMs)]
      return this.#exchange(request, AbortSignal.any(signals))
    }
    for (let attempt = 1; ; attempt++) {
      const runs = this.#runs().filter(isUnfinished)
      if (runs.length === 0 || nowMs() >= endsAtMs || this.#stopOfAll.aborted) return
      if (this.#isUnreadable && attempt > 2) return
      this.#say(`The check cancels what has not finished: ${runs.length} of its runs.`)
      await Promise.all(
        runs.map(async (run) => {
          await exchange(cancelOf(run))
          await exchange(readOf(run))
        }),
      )
      const isDone = !this.#runs().some(isUnfinished)
      if (!isDone) await sleep(attempt * this.#limits.pollMs, this.#stopOfAll).catch(() => undefined)
    }
  }

  async #reach(): Promise<void> {
    const { response, failure } = await this.#read({ id: randomUUID(), path: this.#path }, { probe: 'read-unknown' })
    if (failure !== undefined) throw new UsageError(`The service cannot be reached: ${failure}.`)
    if (response?.status === 401) throw new UsageError('The service refuses the API key with 401.')
  }

  /** Returns the fields without which the service starts nothing. */
  async #startFirst(): Promise<Fields> {
    const { exchange } = await this.#start({}, { probe: 'start-empty' })
    if (exchange?.response?.status === 404) {
      const sentence = `There is no project ${show(this.#target.project)}, or the URL is not the service's`
      throw new UsageError(`${sentence}: ${describe(exchange)}`)
    }
    if (exchange === undefined || !isRefused(exchange)) return {}
    const fields = this.#optionFields('name')
    const again = await this.#start(fields)
    if (again.exchange !== undefined && isAccepted(again.exchange)) return fields
    const sentence = 'The service refuses a start without fields, and a start with the given options'
    const hint = 'Give an option for each field that it requires.'
    throw new UsageError(`${sentence}: ${describe(again.exchange ?? exchange)} ${hint}`)
  }

  #optionFields(kind: 'name' | 'oldName'): Fields {
    const given = OPTIONS.filter((option) => option[kind] !== undefined && this.#target[option.of] !== undefined)
    return Object.fromEntries(given.map((option) => [option[kind], this.#target[option.of]]))
  }

  async #startWithOptions(base: Fields): Promise<void> {
    const fields = { ...this.#optionFields('name'), envOverrides: { CHECK: '1' }, autofix: false }
    const { exchange } = await this.#start(fields, { probe: 'start-fields' })
    if (exchange !== undefined && isRefused(exchange)) await this.#findRefusedOption(base)
    const old = this.#optionFields('oldName')
    if (Object.keys(old).length === 0) return
    // A service that requires a field may require its current name.
    if (Object.keys(base).length === 0) await this.#start(old, { probe: 'start-deprecated' })
    await this.#tryStart({ ...fields, ...old }, { probe: 'start-old-beside-new' })
  }

  /** If the service accepts a value under the deprecated name, the value is right. */
  async #findRefusedOption(base: Fields): Promise<void> {
    for (const { option, of, name, oldName } of OPTIONS) {
      const value = this.#target[of]
      if (value === undefined) continue
      const { [name]: _, ...others } = base
      const one = await this.#tryStart({ ...others, [name]: value }, { probe: 'start-fields' })
      if (one === undefined || !isRefused(one)) continue
      if (oldName !== undefined && (await this.#isAcceptedByOldName({ ...others, [oldName]: value }))) continue
      throw new UsageError(`The service refuses ${option} ${show(value)}: ${describe(one)}`)
    }
  }

  async #isAcceptedByOldName(fields: Fields): Promise<boolean> {
    const start = await this.#tryStart(fields, { probe: 'start-deprecated' })
    return start !== undefined && !isRefused(start)
  }

  async #startSuite(): Promise<string | undefined> {
    const { suite } = this.#target
    if (suite === undefined) return undefined
    for (const path of suiteRunPaths(randomUUID())) await this.#get(path, { probe: 'suite-unknown' })
    await this.#postSuite(randomUUID(), { probe: 'suite-start-unknown' })
    const started = await this.#postSuite(suite)
    if (started === undefined) return undefined
    const isMissing = started.response?.status === 404
    if (isMissing) throw new UsageError(`There is no test suite ${show(suite)}: ${describe(started)}`)
    const { testSuiteRunId: id } = jsonOf(started)
    return isAccepted(started) && typeof id === 'string' && isPathSegment(id) ? id : undefined
  }

  /** Starts more runs than most services run at once, until one is QUEUED. */
  async #fillQueue(base: Fields): Promise<void> {
    const isQueued = () => this.#runs().some((run) => lastStatus(run) === 'QUEUED')
    for (let count = 0; count < QUEUE_STARTS && !isQueued(); count++) await this.#start(base)
  }

  async #cancelRuns(first: Run | undefined): Promise<void> {
    const others = () => this.#runs().filter((run) => run.id !== first?.id && isUnfinished(run))
    const queued = others().findLast((run) => lastStatus(run) === 'QUEUED')
    if (queued !== undefined) await this.#endRun(queued)
    const [witness = first] = others()
    if (witness !== undefined) {
      await this.#waitUntil(witness, (status) => status !== 'QUEUED', this.#limits.cancelMs)
      const { otherProject } = this.#target
      const other = otherProject === undefined ? undefined : runsPath(otherProject)
      await this.#cancel({ id: randomUUID(), path: this.#path }, { probe: 'cancel-unknown' })
      await this.#cancel({ ...witness, path: runsPath(randomUUID()) }, { probe: 'cancel-project' })
      if (other !== undefined) await this.#cancel({ ...witness, path: other }, { probe: 'cancel-other-project' })
      await this.#cancel(undefined, { probe: 'cancel-no-where' })
    }
    for (const run of others()) await this.#endRun(run)
  }

  async #readElsewhere({ id }: Run): Promise<void> {
    const { otherProject } = this.#target
    await this.#read({ id, path: runsPath(randomUUID()) }, { probe: 'read-project' })
    if (otherProject) await this.#read({ id, path: runsPath(otherProject) }, { probe: 'read-other-project' })
  }

  async #sendWrongStarts(base: Fields): Promise<void> {
    const texts = { environment: 1, environmentName: 1, frameworkProjectName: 1, runGroupName: 1, branch: 1 }
    for (const [name, value] of Object.entries({ ...texts, envOverrides: 'A=b', autofix: 'yes' })) {
      await this.#tryStart({ ...base, [name]: value }, { probe: 'start-types' })
    }
    await this.#tryStart('{', { probe: 'start-not-json' })
    await this.#tryStart('[]', { probe: 'start-array' })
    await this.#tryStart(Buffer.from('{"branch":"\xff"}', 'latin1'), { probe: 'start-not-utf8' })
    await this.#tryStart(base, { probe: 'start-project' }, runsPath(randomUUID()))
    await this.#tryStart({ ...base, branch: '' }, { probe: 'branch-0' })
    await this.#tryStart({ ...base, branch: 'a'.repeat(256) }, { probe: 'branch-256' })
  }

  async #startUnknownBranches(base: Fields): Promise<void> {
    await this.#tryStart({ ...base, branch: 'a' }, { probe: 'branch-1' })
    const longest = await this.#tryStart({ ...base, branch: 'a'.repeat(255) }, { probe: 'branch-255' })
    if (longest === undefined || !isAccepted(longest)) return
    await this.#tryStart({ ...base, branch: `🐙${'a'.repeat(254)}` }, { probe: 'branch-unicode' })
  }

  async #sendWrongKeys(base: Fields, first: Run | undefined, suiteRun: string | undefined): Promise<void> {
    const { key, suite } = this.#target
    const unusual = (probe: string, name: string, header: string | null) => ({ probe, credentials: { name, header } })
    const none = unusual('key-missing', 'no key', null)
    const other = unusual('key-invalid', 'another key', `Bearer ${randomUUID()}`)
    for (const one of [
      none,
      other,
      unusual('key-similar', 'the key and one character more', `Bearer ${key}x`),
      unusual('key-similar', 'the key without its end', `Bearer ${key.slice(0, -1)}`),
      unusual('key-empty', 'an empty key', 'Bearer '),
      unusual('key-scheme', 'the key with the scheme Basic', `Basic ${key}`),
      unusual('key-bare', 'the key without a scheme', key),
    ]) {
      await this.#tryStart(base, one)
      if (first !== undefined) await this.#read(first, one)
      if (first !== undefined) await this.#cancel(first, one)
    }
    const beforeOthers = { ...none, probe: 'key-first' }
    await this.#read({ id: randomUUID(), path: this.#path }, beforeOthers)
    await this.#tryStart('{', beforeOthers)
    if (suite === undefined) return
    for (const one of [none, other]) {
      await this.#postSuite(suite, one)
      for (const path of suiteRun === undefined ? [] : suiteRunPaths(suiteRun)) await this.#get(path, one)
    }
  }

  async #waitForEnds(first: Run | undefined, suiteRun: string | undefined): Promise<void> {
    if (first !== undefined) {
      await this.#waitUntil(first, (status) => FINAL_STATUSES.includes(status), Infinity)
      if (!isUnfinished(this.#current(first))) await this.#cancel(first, { probe: 'cancel-finished' })
    }
    if (suiteRun !== undefined) await this.#waitForSuite(suiteRun)
    // A finished run is read twice more, because nothing about it may change.
    const finished = this.#runs().filter((run) => !isUnfinished(run))
    for (const run of [...finished, ...finished]) await this.#read(run)
  }

  async #waitForSuite(id: string): Promise<void> {
    const [statusPath = '', resultPath = ''] = suiteRunPaths(id)
    for (const sinceMs = this.#world.nowMs(); ; await this.#pause(sinceMs)) {
      const { status } = jsonOf(await this.#get(statusPath, { runId: id }))
      if (status === 'FINISHED') break
      if (status !== 'RUNNING' && this.#world.nowMs() - sinceMs > this.#limits.unreadableMs) return
    }
    await this.#get(resultPath, { runId: id })
  }

  async #endRun(run: Run): Promise<void> {
    await this.#read(run)
    if (!isUnfinished(this.#current(run))) return
    const cancel = await this.#cancel(run)
    if (!cancelledIn(cancel).includes(run.id)) return
    await this.#waitUntil(run, (status) => FINAL_STATUSES.includes(status), this.#limits.cancelMs)
  }

  /** Also returns if the run has finished, or cannot be read for too long. */
  async #waitUntil(run: Run, isReached: (status: unknown) => boolean, limitMs: number): Promise<void> {
    const sinceMs = this.#world.nowMs()
    for (let readableAtMs = sinceMs; ; await this.#pause(sinceMs)) {
      const { status } = jsonOf(await this.#read(run))
      const nowMs = this.#world.nowMs()
      if (STATUSES.includes(status)) readableAtMs = nowMs
      if (FINAL_STATUSES.includes(status) || (STATUSES.includes(status) && isReached(status))) return
      if (nowMs - readableAtMs > this.#limits.unreadableMs) this.#isUnreadable = true
      if (this.#isUnreadable || nowMs - sinceMs >= limitMs) return
    }
  }

  /** Makes a start that the service should refuse, or whose run has nothing more to show. */
  async #tryStart(body: Fields | string | Buffer, unusual: Unusual, path?: string): Promise<Exchange | undefined> {
    const { exchange, run } = await this.#start(body, unusual, path)
    if (run !== undefined) await this.#endRun(run)
    return exchange
  }

  async #start(body: Fields | string | Buffer, unusual: Unusual = {}, path = this.#path) {
    if (!this.#mayStart) return {}
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const exchange = await this.#send({ endpoint: 'start', method: 'POST', path, body: text, ...unusual })
    const id = startedId(exchange)
    if (id === undefined && (isAccepted(exchange) || exchange.response === undefined)) {
      this.#mayStart = false
      this.#say('The id of a run could not be read. The check starts no more runs.')
    }
    const run = this.#runs().find((one) => one.id === id)
    if (run === undefined) return { exchange }
    await this.#read(run)
    return { exchange, run: this.#current(run) }
  }

  async #read(run: Ref, unusual: Unusual = {}): Promise<Exchange> {
    const exchange = await this.#send({ ...readOf(run), ...unusual })
    const { response, failure } = exchange
    const { status = response?.status ?? failure } = jsonOf(exchange)
    if (unusual.probe === undefined) this.#say(`Run ${show(run.id)}: ${show(status)}`)
    return exchange
  }

  /** Cancels a run, then reads what the cancel may have changed. Without a run, the request names no run. */
  async #cancel(run: Ref | undefined, unusual: Unusual = {}): Promise<Exchange> {
    const nothing = { ...cancelOf({ id: '', path: this.#path }), body: '{}', runId: undefined }
    const exchange = await this.#send({ ...(run === undefined ? nothing : cancelOf(run)), ...unusual })
    for (const one of this.#runs().filter(isUnfinished)) await this.#read(one)
    return exchange
  }

  async #postSuite(suite: string, unusual: Unusual = {}): Promise<Exchange | undefined> {
    if (!this.#mayStart) return undefined
    const path = `/v1/testSuite/${encodeURIComponent(suite)}/run`
    return this.#send({ endpoint: 'suite-start', method: 'POST', path, body: '{}', ...unusual })
  }

  #get(path: string, facts: Unusual & { runId?: string }): Promise<Exchange> {
    const endpoint = path.endsWith('/status') ? 'suite-status' : 'suite-result'
    return this.#send({ endpoint, method: 'GET', path, ...facts })
  }

  /** If a request gets 429, it is sent again, because this response shows nothing. */
  async #send(request: Request): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      this.#stop.throwIfAborted()
      const isOver = this.#end.aborted || this.#world.nowMs() >= this.#endsAtMs
      if (isOver) throw new TimeOver('The time is over. Give the check more time with --timeout.')
      const signal = request.endpoint === 'start' ? this.#endOfStarts : this.#end
      const exchange = await this.#exchange(request, signal)
      const failures = this.exchanges.filter(({ failure }) => failure !== undefined).length
      if (failures >= FAILURES_LIMIT) throw new EarlyEnd(`${failures} requests got no complete response.`)
      if (exchange.response?.status !== 429 || attempt === ATTEMPTS_LIMIT) return exchange
      const seconds = Number(exchange.response.headers['retry-after'] ?? attempt)
      await this.#world.sleep(Math.min(seconds || attempt, 30) * 1000, this.#stop)
    }
  }

  async #exchange(request: Request, signal: AbortSignal): Promise<Exchange> {
    const { nowMs, send } = this.#world
    const index = this.exchanges.length
    const sent: Exchange = { ...request, index, atMs: nowMs() }
    // The exchange stands in the list before it is sent, so that a start in flight is not forgotten.
    this.exchanges.push(sent)
    const reply = await send(request, signal)
    const exchange = { ...sent, ...reply, durationMs: nowMs() - sent.atMs }
    this.exchanges[index] = exchange
    return exchange
  }

  #runs(): Run[] {
    return runsIn(this.exchanges)
  }

  #current(run: Run): Run {
    return this.#runs().find(({ id }) => id === run.id) ?? run
  }

  /** The longer the check has waited, the longer it waits before the next request. */
  async #pause(sinceMs: number): Promise<void> {
    const { nowMs, sleep } = this.#world
    if (nowMs() - this.#saidAtMs > this.#limits.heartbeatMs) {
      this.#say(`The check has waited for ${Math.round((nowMs() - sinceMs) / 1000)} s.`)
    }
    await sleep(Math.min(Math.max((nowMs() - sinceMs) / 20, this.#limits.pollMs), 10 * this.#limits.pollMs), this.#stop)
  }

  /** Says each line only once. */
  #say(line: string): void {
    if (this.#said.has(line)) return
    this.#said.add(line)
    this.#saidAtMs = this.#world.nowMs()
    this.#world.say(line)
  }
}

function runsPath(project: string): string {
  return `/v1/projects/${encodeURIComponent(project)}/runs`
}

function suiteRunPaths(id: string): string[] {
  return ['status', 'result'].map((what) => `/v1/testSuiteRun/${encodeURIComponent(id)}/${what}`)
}

function readOf({ id, path }: Ref): Request {
  return { endpoint: 'read', method: 'GET', path: `${path}/${encodeURIComponent(id)}`, runId: id }
}

function cancelOf({ id, path }: Ref): Request {
  const body = JSON.stringify({ where: { runId: id } })
  return { endpoint: 'cancel', method: 'POST', path: `${path}/cancel`, body, runId: id }
}

/** The status and what the service says about it, for a sentence. */
function describe(exchange: Exchange): string {
  const { error } = jsonOf(exchange)
  return `${exchange.response?.status ?? exchange.failure}${error === undefined ? '' : ` ${show(error)}`}.`
}

/** Aborts some time after another signal. */
function later(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true })
  return controller.signal
}
