import { once } from 'node:events'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { RunningTests } from '../execution/execute.ts'
import { type RunOutcome, type StopReason, withoutTests } from '../execution/outcome.ts'
import { type RunResources, removeResources } from '../execution/resources.ts'
import type { Progress } from '../frameworks/report-reader.ts'
import { count } from '../text.ts'
import { refuse } from './refusal.ts'
import { finishRun, isFinished, markRunning, type Run } from './run.ts'
import type { CommonContext } from './store.ts'

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
  /** Stops the run. The reason of its signal is a `StopReason`. */
  readonly stop: AbortController
  /** Settles when clients can see that the run is finished. */
  readonly end: PromiseWithResolvers<void>
  /** Absent until the tests begin. */
  tests?: RunningTests | undefined
  wasReadRunning?: boolean | undefined
}

/** Runs start in the order in which they came. A run that waits for a run with the same key lets others pass. */
export class RunQueue {
  readonly #options: Options
  /** The runs that wait or are active, and those whose end could not be saved, for example because the disk was full. */
  readonly #entries = new Map<string, Entry>()
  /** These runs may have processes and files on the machine. For clients, they may be finished already. */
  readonly #active = new Map<Entry, Promise<void>>()
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Throws a Refusal if the run cannot begin. */
  add(run: Run, task: RunTask): void {
    if (this.#isClosing) refuse('failed', 'The service is stopping and takes no more runs.')
    try {
      this.#options.store.save(run)
    } catch (error) {
      refuse('failed', `The run was not started, because it could not be saved: ${messageOf(error)}.`)
    }
    const entry = { run, task, stop: new AbortController(), end: Promise.withResolvers<void>() }
    this.#entries.set(run.runId, entry)
    this.#log(run, 'QUEUED')
    this.#startNext()
  }

  #startNext(): void {
    for (const entry of this.#entries.values()) {
      if (this.#active.size >= CONCURRENCY) return
      const { run, task } = entry
      const keysInUse = [...this.#active.keys()].map((other) => other.task.exclusiveKey)
      const mustWait = task.exclusiveKey !== undefined && keysInUse.includes(task.exclusiveKey)
      if (run.phase.status === 'QUEUED' && !mustWait) this.#active.set(entry, this.#execute(entry))
    }
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
  progressOf(runId: string): Progress | undefined {
    const entry = this.#entries.get(runId)
    return entry === undefined || isFinished(entry.run) ? undefined : entry.tests?.progress()
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
    await Promise.all([...this.#entries.values()].map((entry) => this.#stop(entry, reason)))
    await Promise.all(this.#active.values())
  }

  /** Returns whether the run has this end. */
  async #stop(entry: Entry, reason: StopReason): Promise<boolean> {
    const { run, stop, end } = entry
    if (isFinished(run)) return false
    if (run.phase.status === 'QUEUED') {
      if (this.#finish(entry, { ...reason, testCases: [] })) this.#entries.delete(run.runId)
    } else {
      stop.abort(reason)
      await end.promise
    }
    return run.phase.status === reason.status
  }

  /**
   * 1. Waits for the end of the task, or for a stop.
   * 2. Shows the outcome to clients at once. If the run was cancelled or interrupted, the outcome has the test cases so far.
   *    Otherwise, the task says the outcome.
   * 3. Waits until the processes of the run have ended.
   * 4. Removes the resources of the run.
   * 5. Starts the next run.
   *
   * Nothing else finishes an active run. So a cancel and the end of the tests at the same moment have one result.
   */
  async #execute(entry: Entry): Promise<void> {
    const { run, task, stop } = entry
    const { runLimitMinutes } = this.#options
    const limit = setTimeout(() => {
      this.#log(run, `exceeded its limit of ${runLimitMinutes} min; stopping it`)
      const message = `the run exceeded its limit of ${runLimitMinutes} min (run-limit-minutes)`
      stop.abort({ status: 'TIMEDOUT', message } satisfies StopReason)
    }, runLimitMinutes * 60_000)
    const ofTask = this.#outcomeOfTask(entry)
    await Promise.race([ofTask, once(stop.signal, 'abort')])
    // Once a run is stopped, for example by a cancel, its limit no longer applies.
    clearTimeout(limit)
    this.#finish(entry, (await this.#outcomeOfStopped(entry)) ?? (await ofTask))
    await ofTask
    // The response that says the end goes out first, because the search for processes takes long.
    await nextTurn()
    const isGone = await removeResources(run.runId, task.resources, this.#options)
    // From now on, clients learn of the run from the store.
    if (this.#save(run, isGone ? undefined : task.resources)) this.#entries.delete(run.runId)
    this.#active.delete(entry)
    this.#startNext()
  }

  async #outcomeOfTask(entry: Entry): Promise<RunOutcome> {
    const { run, task, stop } = entry
    try {
      markRunning(run)
      this.#options.store.save(run, task.resources)
      this.#log(run, 'RUNNING')
      return await task.execute(stop.signal, (tests) => {
        entry.tests = tests
      })
    } catch (error) {
      // A checkout that is stopped fails too.
      if (stop.signal.aborted) return { ...stop.signal.reason, testCases: [] }
      this.#logError(run, `failed to run: ${messageOf(error)}`)
      return withoutTests(`the service could not run the tests: ${messageOf(error)}`)
    }
  }

  /** Undefined if nobody has stopped the run. At the limit of a run, its tests may have ended, so the task says its outcome. */
  async #outcomeOfStopped({ run, tests, stop }: Entry): Promise<RunOutcome | undefined> {
    const reason: StopReason | undefined = stop.signal.reason
    if (reason === undefined || reason.status === 'TIMEDOUT') return undefined
    try {
      return { ...reason, testCases: (await tests?.testCases()) ?? [] }
    } catch (error) {
      // For example, no thread can be started.
      this.#logError(run, `the test cases so far could not be read: ${messageOf(error)}`)
      return { ...reason, testCases: [] }
    }
  }

  /** Returns whether the store has taken the run. */
  #finish(entry: Entry, outcome: RunOutcome): boolean {
    const { run, task, end } = entry
    finishRun(run, outcome)
    end.resolve()
    const { status, testCases, message } = outcome
    this.#log(run, `${status}, ${count(testCases.length, 'test case')}${message === undefined ? '' : `: ${message}`}`)
    return this.#save(run, this.#active.has(entry) ? task.resources : undefined)
  }

  /** Returns whether the store has taken the run. */
  #save(run: Run, resources: RunResources | undefined): boolean {
    try {
      this.#options.store.save(run, resources)
      return true
    } catch (error) {
      this.#logError(run, `could not be saved, so its outcome may be lost after a restart: ${messageOf(error)}`)
      return false
    }
  }

  #logError({ runId }: Run, text: string): void {
    this.#options.logError(`run ${runId}: ${text}`)
  }

  #log({ runId }: Run, text: string): void {
    this.#options.log(`run ${runId}: ${text}`)
  }
}
