import { randomUUID } from 'node:crypto'
import { UsageError } from '../invocation.ts'
import type { Exchange } from './exchange.ts'
import { similarKeys } from './key.ts'
import {
  isAccepted,
  isPathSegment,
  isRefused,
  isUnfinished,
  jsonOf,
  lastStatus,
  type Observations,
  type Run,
  show,
} from './observations.ts'
import { runsPath, suiteResultOf, suiteStartOf, suiteStatusOf } from './requests.ts'
import { type Effects, EndedEarly, type Limits, Session, TimeUp } from './session.ts'
import { type Special, StartedRuns } from './started-runs.ts'

export interface Target {
  readonly key: string
  readonly project: string
  readonly otherProject?: string | undefined
  readonly suite?: string | undefined
  readonly environment?: string | undefined
  readonly frameworkProject?: string | undefined
  readonly branch?: string | undefined
}

/** The options that are fields of a start. */
const OPTIONS = [
  { option: '--environment', of: 'environment', name: 'environment', oldName: 'environmentName' },
  { option: '--framework-project', of: 'frameworkProject', name: 'frameworkProjectName', oldName: 'runGroupName' },
  { option: '--branch', of: 'branch', name: 'branch', oldName: undefined },
] as const

const QUEUE_STARTS = 3

type Fields = Readonly<Record<string, unknown>>

/** Decides which requests a check makes, and in which order. It judges no exchange. */
export class Driver {
  readonly #target: Target
  readonly #session: Session
  readonly #runs: StartedRuns
  readonly #path: string
  #isWaiting = false
  /** How many exchanges there were when the check began to clean up. The rules are judged by these exchanges. */
  #seenCount = Infinity

  constructor(target: Target, effects: Effects, limits: Limits, ctrlC: AbortSignal) {
    this.#target = target
    this.#session = new Session(effects, limits, ctrlC)
    this.#runs = new StartedRuns(this.#session)
    this.#path = runsPath(target.project)
  }

  get exchanges(): readonly Exchange[] {
    return this.#session.exchanges
  }

  get observations(): Observations {
    return { exchanges: this.exchanges.slice(0, this.#seenCount), cancelMs: this.#session.limits.cancelMs }
  }

  /** Throws a UsageError if the check is not possible with these options. */
  async run(): Promise<void> {
    try {
      await this.#reach()
      const base = await this.#startFirst()
      const [first] = this.#runs.all()
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
      if (error instanceof TimeUp && !this.#isWaiting) throw new UsageError(error.message)
      if (!(error instanceof EndedEarly)) throw error
      this.#session.say(error.message)
    }
  }

  /** Cancels what has not finished. */
  async cleanUp(): Promise<void> {
    this.#seenCount = this.exchanges.length
    await this.#runs.cleanUp()
  }

  async #reach(): Promise<void> {
    const { response, failure } = await this.#runs.read(
      { id: randomUUID(), path: this.#path },
      { probe: 'read-unknown' },
    )
    if (failure !== undefined) throw new UsageError(`The service cannot be reached: ${failure}.`)
    if (response?.status === 401) throw new UsageError('The service refuses the API key with 401.')
  }

  /** Returns the fields without which the service starts nothing. */
  async #startFirst(): Promise<Fields> {
    const { exchange } = await this.#runs.start(this.#path, {}, { probe: 'start-empty' })
    if (exchange?.response?.status === 404) {
      const sentence = `There is no project ${show(this.#target.project)}, or the URL is not the service's`
      throw new UsageError(`${sentence}: ${describe(exchange)}`)
    }
    if (exchange === undefined || !isRefused(exchange)) return {}
    const fields = this.#optionFields('name')
    const again = await this.#runs.start(this.#path, fields)
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
    const { exchange } = await this.#runs.start(this.#path, fields, { probe: 'start-fields' })
    if (exchange !== undefined && isRefused(exchange)) await this.#findRefusedOption(base)
    const old = this.#optionFields('oldName')
    if (Object.keys(old).length === 0) return
    // A service that requires a field may require its current name.
    if (Object.keys(base).length === 0) await this.#runs.start(this.#path, old, { probe: 'start-deprecated' })
    await this.#startAndEnd({ ...fields, ...old }, { probe: 'start-old-beside-new' })
  }

  /** If the service accepts a value under the deprecated name, the value is right. */
  async #findRefusedOption(base: Fields): Promise<void> {
    for (const { option, of, name, oldName } of OPTIONS) {
      const value = this.#target[of]
      if (value === undefined) continue
      const { [name]: _, ...others } = base
      const one = await this.#startAndEnd({ ...others, [name]: value }, { probe: 'start-fields' })
      if (one === undefined || !isRefused(one)) continue
      if (oldName !== undefined && (await this.#isAcceptedByOldName({ ...others, [oldName]: value }))) continue
      throw new UsageError(`The service refuses ${option} ${show(value)}: ${describe(one)}`)
    }
  }

  async #isAcceptedByOldName(fields: Fields): Promise<boolean> {
    const start = await this.#startAndEnd(fields, { probe: 'start-deprecated' })
    return start !== undefined && !isRefused(start)
  }

  /** Returns the id of the test suite's run. */
  async #startSuite(): Promise<string | undefined> {
    const { suite } = this.#target
    if (suite === undefined) return undefined
    await this.#session.send({ ...suiteStatusOf(randomUUID()), probe: 'suite-unknown' })
    await this.#session.send({ ...suiteResultOf(randomUUID()), probe: 'suite-unknown' })
    if (!this.#runs.mayStart) return undefined
    await this.#session.send({ ...suiteStartOf(randomUUID()), probe: 'suite-start-unknown' })
    const started = await this.#session.send(suiteStartOf(suite))
    const isMissing = started.response?.status === 404
    if (isMissing) throw new UsageError(`There is no test suite ${show(suite)}: ${describe(started)}`)
    const { testSuiteRunId: id } = jsonOf(started)
    return isAccepted(started) && typeof id === 'string' && isPathSegment(id) ? id : undefined
  }

  /** Starts more runs than most services run at once, until one is QUEUED. */
  async #fillQueue(base: Fields): Promise<void> {
    const isQueued = () => this.#runs.all().some((run) => lastStatus(run) === 'QUEUED')
    for (let count = 0; count < QUEUE_STARTS && !isQueued(); count++) await this.#runs.start(this.#path, base)
  }

  async #cancelRuns(first: Run | undefined): Promise<void> {
    const others = () => this.#runs.all().filter((run) => run.id !== first?.id && isUnfinished(run))
    const queued = others().findLast((run) => lastStatus(run) === 'QUEUED')
    if (queued !== undefined) await this.#runs.end(queued)
    const [witness = first] = others()
    if (witness !== undefined) {
      await this.#runs.waitUntil(witness, (status) => status !== 'QUEUED', this.#session.limits.cancelMs)
      const { otherProject } = this.#target
      const other = otherProject === undefined ? undefined : runsPath(otherProject)
      await this.#runs.cancel({ id: randomUUID(), path: this.#path }, { probe: 'cancel-unknown' })
      await this.#runs.cancel({ ...witness, path: runsPath(randomUUID()) }, { probe: 'cancel-project' })
      if (other !== undefined) await this.#runs.cancel({ ...witness, path: other }, { probe: 'cancel-other-project' })
      await this.#runs.cancelWithoutWhere(this.#path, { probe: 'cancel-no-where' })
    }
    for (const run of others()) await this.#runs.end(run)
    const cancelled = this.#runs.all().find((run) => lastStatus(run) === 'CANCELLED')
    if (cancelled !== undefined) await this.#runs.cancel(cancelled, { probe: 'cancel-again' })
  }

  async #readElsewhere({ id }: Run): Promise<void> {
    const { otherProject } = this.#target
    await this.#runs.read({ id, path: runsPath(randomUUID()) }, { probe: 'read-project' })
    if (otherProject) await this.#runs.read({ id, path: runsPath(otherProject) }, { probe: 'read-other-project' })
  }

  async #sendWrongStarts(base: Fields): Promise<void> {
    const texts = { environment: 1, environmentName: 1, frameworkProjectName: 1, runGroupName: 1, branch: 1 }
    const wrong = Object.entries({ ...texts, envOverrides: 'A=b', autofix: 'yes' })
    for (const [name, value] of [...wrong, ['branch', null] as const]) {
      await this.#startAndEnd({ ...base, [name]: value }, { probe: 'start-types' })
    }
    await this.#startAndEnd('{', { probe: 'start-not-json' })
    await this.#startAndEnd('[]', { probe: 'start-array' })
    await this.#startAndEnd(Buffer.from('{"branch":"\xff"}', 'latin1'), { probe: 'start-not-utf8' })
    await this.#runs.startAndEnd(runsPath(randomUUID()), base, { probe: 'start-project' })
    await this.#startAndEnd({ ...base, branch: '' }, { probe: 'branch-0' })
    await this.#startAndEnd({ ...base, branch: 'a'.repeat(256) }, { probe: 'branch-256' })
  }

  async #startUnknownBranches(base: Fields): Promise<void> {
    await this.#startAndEnd({ ...base, branch: 'a' }, { probe: 'branch-1' })
    const longest = await this.#startAndEnd({ ...base, branch: 'a'.repeat(255) }, { probe: 'branch-255' })
    if (longest === undefined || !isAccepted(longest)) return
    await this.#startAndEnd({ ...base, branch: `🐙${'a'.repeat(254)}` }, { probe: 'branch-unicode' })
  }

  async #sendWrongKeys(base: Fields, first: Run | undefined, suiteRun: string | undefined): Promise<void> {
    const { key, suite } = this.#target
    const { longer, shorter, otherCase } = similarKeys(key)
    const withHeader = (probe: string, name: string, header: string | null) => ({
      probe,
      credentials: { name, header },
    })
    const none = withHeader('key-missing', 'no key', null)
    const other = withHeader('key-invalid', 'another key', `Bearer ${randomUUID()}`)
    for (const one of [
      none,
      other,
      withHeader('key-similar', 'the key and one character more', `Bearer ${longer}`),
      withHeader('key-similar', 'the key without its end', `Bearer ${shorter}`),
      ...(otherCase === key ? [] : [withHeader('key-case', 'the key in the other case', `Bearer ${otherCase}`)]),
      withHeader('key-empty', 'an empty key', 'Bearer '),
      withHeader('key-scheme', 'the key with the scheme Basic', `Basic ${key}`),
      withHeader('key-bare', 'the key without a scheme', key),
    ]) {
      await this.#startAndEnd(base, one)
      if (first !== undefined) await this.#runs.read(first, one)
      if (first !== undefined) await this.#runs.cancel(first, one)
    }
    const beforeOthers = { ...none, probe: 'key-first' }
    await this.#runs.read({ id: randomUUID(), path: this.#path }, beforeOthers)
    await this.#startAndEnd('{', beforeOthers)
    if (suite === undefined) return
    for (const one of [none, other]) {
      if (this.#runs.mayStart) await this.#session.send({ ...suiteStartOf(suite), ...one })
      if (suiteRun === undefined) continue
      await this.#session.send({ ...suiteStatusOf(suiteRun), ...one })
      await this.#session.send({ ...suiteResultOf(suiteRun), ...one })
    }
  }

  async #waitForEnds(first: Run | undefined, suiteRun: string | undefined): Promise<void> {
    if (first !== undefined) {
      const isFinished = await this.#runs.waitForEnd(first)
      if (isFinished) await this.#runs.cancel(first, { probe: 'cancel-finished' })
    }
    if (suiteRun !== undefined) await this.#waitForSuite(suiteRun)
    // A finished run is read once more, because nothing about it may change.
    for (const run of this.#runs.all().filter((one) => !isUnfinished(one))) await this.#runs.read(run)
  }

  async #waitForSuite(id: string): Promise<void> {
    for (const sinceMs = this.#session.nowMs(); ; await this.#session.pause(sinceMs)) {
      const { status } = jsonOf(await this.#session.send(suiteStatusOf(id)))
      if (status === 'FINISHED') break
      if (status !== 'RUNNING' && this.#session.nowMs() - sinceMs > this.#session.limits.unreadableMs) return
    }
    await this.#session.send(suiteResultOf(id))
  }

  /** Makes a start that the service should refuse, or whose run has nothing more to show. */
  #startAndEnd(body: Fields | string | Buffer, special: Special): Promise<Exchange | undefined> {
    return this.#runs.startAndEnd(this.#path, body, special)
  }
}

/** The end of a sentence: the status, and what the service says about it. */
function describe(exchange: Exchange): string {
  const { error } = jsonOf(exchange)
  return `${exchange.response?.status ?? exchange.failure}${error === undefined ? '' : ` ${show(error)}`}.`
}
