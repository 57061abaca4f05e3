import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type RunOutcome, type StopReason, withoutTests } from '../execution/outcome.ts'
import { type RunResources, removeResources } from '../execution/resources.ts'
import type { RunningTests } from '../execution/run-framework.ts'
import type { Progress } from '../frameworks/report-reader.ts'
import { count } from '../text.ts'
import type { CommonContext } from './context.ts'
import { refuse } from './refusal.ts'
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
  /** Settles when the run has no process, and its files are removed. */
  readonly over: PromiseWithResolvers<void>
  wasReadRunning?: boolean | undefined
  /** Absent while the run waits. */
  active?: Active | undefined
}

/** The run may have processes and files on the machine. For clients, it may be finished already. */
interface Active {
  readonly stop: AbortController
  /** Absent until the tests begin. */
  tests?: RunningTests | undefined
  /** The outcome of a run that somebody stops. It counts, also if the task ends before it is known. */
  stopped?: Promise<RunOutcome> | undefined
}

/** Runs start in the order in which they came. A run that waits for a run with the same key lets others pass. */
export class RunQueue {
  readonly #options: Options
  /** The runs that wait or are active. */
  readonly #entries = new Map<string, Entry>()
  /** The store did not take a change of these runs, for example because the disk was full. */
  readonly #unsaved = new Map<string, Run>()
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
    const [end, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.#entries.set(run.runId, { run, task, end, over })
    this.#log(run, 'QUEUED')
    this.#startNext()
  }

  #startNext(): void {
    const entries = [...this.#entries.values()]
    for (const entry of entries) {
      const active = entries.filter((other) => other.active !== undefined)
      if (active.length >= CONCURRENCY) return
      const { exclusiveKey } = entry.task
      const mustWait = exclusiveKey !== undefined && active.some(({ task }) => task.exclusiveKey === exclusiveKey)
      if (entry.active === undefined && !mustWait) this.#execute(entry)
    }
  }

  find(runId: string): Run | undefined {
    return this.#entries.get(runId)?.run ?? this.#unsaved.get(runId) ?? this.#options.store.find(runId)
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

  /** How far a run is, which may finish meanwhile. Undefined if it has finished, or if its tests have not begun. */
  async progressOf(runId: string): Promise<Progress | undefined> {
    const entry = this.#entries.get(runId)
    return entry === undefined || isFinished(entry.run) ? undefined : entry.active?.tests?.progress()
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
    await Promise.all(entries.flatMap((entry) => [this.#stop(entry, reason), entry.over.promise]))
  }

  /** Clients see the outcome at once. The next run begins when the processes of this run have ended. */
  async #stop(entry: Entry, reason: StopReason): Promise<boolean> {
    const { run, active } = entry
    if (isFinished(run)) return false
    if (active === undefined) {
      this.#finish(entry, { ...reason, testCases: [] })
      this.#remove(entry)
    } else {
      active.stop.abort(reason)
      active.stopped = this.#outcomeOfStopped(run, active.tests, reason)
      this.#finish(entry, await active.stopped)
    }
    return run.phase.status === reason.status
  }

  /** If the test cases so far cannot be read, for example because no thread can be started, the outcome has none. */
  async #outcomeOfStopped(run: Run, tests: RunningTests | undefined, reason: StopReason): Promise<RunOutcome> {
    try {
      return { ...reason, testCases: (await tests?.testCases()) ?? [] }
    } catch (error) {
      this.#logError(run, `the test cases so far could not be read: ${messageOf(error)}`)
      return { ...reason, testCases: [] }
    }
  }

  async #execute(entry: Entry): Promise<void> {
    const { run, task } = entry
    const { runLimitMinutes } = this.#options
    const stop = new AbortController()
    const active: Active = { stop }
    entry.active = active
    const limit = setTimeout(() => {
      this.#log(run, `exceeded its limit of ${runLimitMinutes} min; stopping it`)
      const message = `the run exceeded its limit of ${runLimitMinutes} min (run-limit-minutes)`
      stop.abort({ status: 'TIMEDOUT', message } satisfies StopReason)
    }, runLimitMinutes * 60_000)
    // Once a run is stopped, for example by a cancel, its limit no longer applies.
    stop.signal.addEventListener('abort', () => clearTimeout(limit), { once: true })
    const outcome = await this.#outcomeOfTask(entry, active)
    clearTimeout(limit)
    this.#finish(entry, (await active.stopped) ?? outcome)
    // The response that says the end goes out first, because the search for processes takes long.
    await nextTurn()
    const isGone = await removeResources(run.runId, task.resources, this.#options)
    this.#save(run, isGone ? undefined : task.resources)
    this.#remove(entry)
    this.#startNext()
  }

  async #outcomeOfTask({ run, task }: Entry, active: Active): Promise<RunOutcome> {
    const { signal } = active.stop
    try {
      markRunning(run)
      this.#options.store.save(run, task.resources)
      this.#log(run, 'RUNNING')
      return await task.execute(signal, (tests) => {
        active.tests = tests
      })
    } catch (error) {
      // A checkout that is stopped fails too.
      if (signal.aborted) return { ...signal.reason, testCases: [] }
      this.#logError(run, `failed to run: ${messageOf(error)}`)
      return withoutTests(`the service could not run the tests: ${messageOf(error)}`)
    }
  }

  /** If the run is finished already, changes nothing. */
  #finish({ run, task, end, active }: Entry, outcome: RunOutcome): void {
    if (!finishRun(run, outcome)) return
    end.resolve()
    const { status, testCases, message } = outcome
    this.#log(run, `${status}, ${count(testCases.length, 'test case')}${message === undefined ? '' : `: ${message}`}`)
    this.#save(run, active && task.resources)
  }

  #remove({ run, over }: Entry): void {
    this.#entries.delete(run.runId)
    over.resolve()
  }

  #save(run: Run, resources: RunResources | undefined): void {
    try {
      this.#options.store.save(run, resources)
    } catch (error) {
      this.#unsaved.set(run.runId, run)
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
