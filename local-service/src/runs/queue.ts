import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type RunOutcome, type StopReason, withoutTests } from '../execution/outcome.ts'
import { type RunResources, removeResources } from '../execution/resources.ts'
import type { RunningTests } from '../execution/run-framework.ts'
import type { Progress } from '../frameworks/report-reader.ts'
import { count } from '../text.ts'
import type { CommonContext } from './context.ts'
import { finishRun, isFinished, markRunning, type Run } from './run.ts'

interface RunTask {
  readonly resources: RunResources
  /** Runs with the same key are RUNNING one after the other. */
  readonly exclusiveKey?: string | undefined
  /** Settles when the run's processes are gone. The reason of the signal is a `StopReason`. `onTests` is called when the tests begin. */
  execute(stop: AbortSignal, onTests: (tests: RunningTests) => void): Promise<RunOutcome>
}

const CONCURRENCY = 2

type Options = CommonContext & { readonly runLimitMinutes: number; readonly endWaitMs: number }

interface Entry {
  readonly run: Run
  readonly task: RunTask
  /** Settles when clients can see that the run is finished. */
  readonly end: PromiseWithResolvers<void>
  wasReadRunning?: boolean | undefined
  state: State
}

/** waiting → active → over. A run that is stopped while it waits is over at once. */
type State =
  | { readonly kind: 'waiting' }
  | Active
  /** Nothing of the run is on the machine. */
  | { readonly kind: 'over' }

/** The run may have processes and files on the machine. For clients, it may be finished already. */
interface Active {
  readonly kind: 'active'
  readonly stop: AbortController
  /** Settles when the run is over. */
  readonly over: Promise<void>
  /** Absent until the tests begin. */
  tests?: RunningTests | undefined
  /** The outcome of a run that somebody stops. It counts, also if the task ends before it is known. */
  stopped?: Promise<RunOutcome> | undefined
}

/** Runs start in the order in which they came. A run that waits for a run with the same key lets others pass. */
export class RunQueue {
  readonly #options: Options
  /** A run stays here while it is unfinished, active or not saved. All other runs are only in the store. */
  readonly #entries = new Map<string, Entry>()
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Returns false if the queue is closing. */
  add(run: Run, task: RunTask): boolean {
    if (this.#isClosing) return false
    this.#options.store.save(run)
    const end = Promise.withResolvers<void>()
    this.#entries.set(run.runId, { run, task, end, state: { kind: 'waiting' } })
    this.#log(run, 'QUEUED')
    this.#startNext()
    return true
  }

  #startNext(): void {
    const entries = [...this.#entries.values()]
    for (const entry of entries) {
      const active = entries.filter(({ state }) => state.kind === 'active')
      if (active.length >= CONCURRENCY) return
      const { exclusiveKey } = entry.task
      const mustWait = exclusiveKey !== undefined && active.some(({ task }) => task.exclusiveKey === exclusiveKey)
      if (entry.state.kind === 'waiting' && !mustWait) this.#start(entry)
    }
  }

  #start(entry: Entry): void {
    const over = Promise.withResolvers<void>()
    const state: Active = { kind: 'active', stop: new AbortController(), over: over.promise }
    entry.state = state
    this.#execute(entry, state).then(over.resolve, over.reject)
  }

  find(runId: string): Run | undefined {
    return this.#entries.get(runId)?.run ?? this.#options.store.find(runId)
  }

  /** If a client has read that the run is RUNNING, waits for the end of the run, but only for the time that the options say. */
  async waitForEnd(runId: string): Promise<void> {
    const entry = this.#entries.get(runId)
    if (entry === undefined) return
    if (entry.wasReadRunning) {
      await Promise.race([entry.end.promise, delay(this.#options.endWaitMs, undefined, { ref: false })])
    }
    entry.wasReadRunning = entry.run.phase.status === 'RUNNING'
  }

  /** How far a run is. Undefined if it has finished, or if its tests have not begun. */
  async progressOf(runId: string): Promise<Progress | undefined> {
    const entry = this.#entries.get(runId)
    if (entry?.state.kind !== 'active' || isFinished(entry.run)) return undefined
    const progress = await entry.state.tests?.progress()
    // The run can finish meanwhile.
    return isFinished(entry.run) ? undefined : progress
  }

  /** Cancels a run. If the run had finished, returns false and changes nothing. */
  async cancel(runId: string): Promise<boolean> {
    const entry = this.#entries.get(runId)
    return entry !== undefined && this.#stop(entry, { status: 'CANCELLED' })
  }

  /** Interrupts every unfinished run and waits until no task is active. */
  async close(): Promise<void> {
    this.#isClosing = true
    const reason = { status: 'INTERRUPTED', message: 'the service was stopped' } as const
    const entries = [...this.#entries.values()]
    const active = entries.flatMap(({ state }) => (state.kind === 'active' ? state.over : []))
    await Promise.all([...entries.map((entry) => this.#stop(entry, reason)), ...active])
  }

  /** Clients see the outcome at once. The next run begins when the processes of this run have ended. */
  async #stop(entry: Entry, reason: StopReason): Promise<boolean> {
    const { run, state } = entry
    if (isFinished(run)) return false
    switch (state.kind) {
      case 'waiting':
        entry.state = { kind: 'over' }
        this.#finish(entry, { ...reason, testCases: [] })
        break
      case 'active':
        state.stop.abort(reason)
        state.stopped = this.#outcomeOfStopped(run, state, reason)
        this.#finish(entry, await state.stopped)
        break
      case 'over':
        // Its outcome was taken before.
        break
    }
    return run.phase.status === reason.status
  }

  /** If the test cases so far cannot be read, for example because no thread can be started, the outcome has none. */
  async #outcomeOfStopped(run: Run, { tests, stop }: Active, reason: StopReason): Promise<RunOutcome> {
    try {
      return (await tests?.stopped(reason)) ?? withoutTests(stop.signal)
    } catch (error) {
      this.#logError(run, `the test cases so far could not be read: ${messageOf(error)}`)
      return withoutTests(stop.signal)
    }
  }

  async #execute(entry: Entry, state: Active): Promise<void> {
    const { run, task } = entry
    const { stop } = state
    const { runLimitMinutes, store } = this.#options
    const limit = setTimeout(() => {
      this.#log(run, `exceeded its limit of ${runLimitMinutes} min; stopping it`)
      const message = `the run exceeded its limit of ${runLimitMinutes} min (run-limit-minutes)`
      stop.abort({ status: 'TIMEDOUT', message } satisfies StopReason)
    }, runLimitMinutes * 60_000)
    // Once a run is stopped, for example by a cancel, its limit no longer applies.
    stop.signal.addEventListener('abort', () => clearTimeout(limit), { once: true })
    try {
      markRunning(run)
      store.save(run, task.resources)
      this.#log(run, 'RUNNING')
      const outcome = await task.execute(stop.signal, (tests) => {
        state.tests = tests
      })
      this.#finish(entry, (await state.stopped) ?? outcome)
    } catch (error) {
      // A checkout that is stopped fails too.
      if (!stop.signal.aborted) this.#logError(run, `failed to run: ${messageOf(error)}`)
      const outcome = withoutTests(stop.signal, `the service could not run the tests: ${messageOf(error)}`)
      this.#finish(entry, (await state.stopped) ?? outcome)
    } finally {
      clearTimeout(limit)
    }
    const isGone = await removeResources(run.runId, task.resources, this.#options)
    entry.state = { kind: 'over' }
    this.#save(entry, isGone ? undefined : task.resources)
    this.#startNext()
  }

  /** If the run is finished already, changes nothing. */
  #finish(entry: Entry, outcome: RunOutcome): void {
    const { run, task } = entry
    if (!finishRun(run, outcome)) return
    entry.end.resolve()
    const { status, testCases, message } = outcome
    this.#log(run, `${status}, ${count(testCases.length, 'test case')}${message === undefined ? '' : `: ${message}`}`)
    this.#save(entry, entry.state.kind === 'active' ? task.resources : undefined)
  }

  /** If the store does not take the outcome, for example because the disk is full, clients still learn it from here. */
  #save({ run, state }: Entry, resources: RunResources | undefined): void {
    try {
      this.#options.store.save(run, resources)
      if (state.kind === 'over') this.#entries.delete(run.runId)
    } catch (error) {
      this.#logError(run, `could not be saved, so its outcome may be lost after a restart: ${messageOf(error)}`)
    }
  }

  #logError({ runId }: Run, text: string): void {
    this.#options.logError(`run ${runId}: ${text}`)
  }

  #log({ runId }: Run, text: string): void {
    this.#options.log(`run ${runId}: ${text}`)
  }
}
