import { once } from 'node:events'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { RunningTests } from '../execution/execute.ts'
import { type RunOutcome, type StopReason, withoutTests } from '../execution/outcome.ts'
import { type RunResources, removeResources } from '../execution/resources.ts'
import type { Progress } from '../frameworks/report-reader.ts'
import { isInside } from '../machine/files.ts'
import { count } from '../text.ts'
import { refuse } from './refusal.ts'
import { finishRun, isFinished, markRunning, type Run, SERVICE_STOPPED } from './run.ts'
import type { CommonContext } from './store.ts'

interface RunTask {
  /** The folder whose tests run. */
  readonly folder: string
  readonly resources: RunResources
  /**
   * Settles when the run's processes are gone. If the tests run in a container, the container may still run until `removeResources`.
   * The reason of the signal is a `StopReason`. `onTests` is called when the tests begin, and again before the fix.
   */
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
  readonly finished: PromiseWithResolvers<void>
  /**
   * `queued`: it has not begun.
   * `active`: its processes and files may be on the machine, also if clients see it as finished.
   * `removed`: they are gone, or cannot be removed. The entry stays only if the store could not save the run.
   */
  state: 'queued' | 'active' | 'removed'
  /** Settles when the entry of an active run is removed. */
  execution?: Promise<void>
  /** Absent until the tests begin. */
  tests?: RunningTests | undefined
}

/** Runs start in the order in which they came. But a run that waits for another run's folder lets others pass. */
export class RunQueue {
  readonly #options: Options
  /** A run is here until its resources are removed, or cannot be removed, and the store has its end. */
  readonly #entries = new Map<string, Entry>()
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Refuses a run that cannot begin. */
  add(run: Run, task: RunTask): void {
    if (this.#isClosing) refuse(500, 'The service is stopping and takes no more runs.')
    try {
      this.#options.store.save(run)
    } catch (error) {
      refuse(500, `The run was not started, because it could not be saved: ${messageOf(error)}.`)
    }
    const finished = Promise.withResolvers<void>()
    this.#entries.set(run.runId, { run, task, stop: new AbortController(), finished, state: 'queued' })
    this.#log(run, 'QUEUED')
    this.#startNext()
  }

  /**
   * A run waits for each earlier run with an overlapping folder, also if that run is still queued. Otherwise, later runs of inner folders could
   * keep a run of an outer folder from starting. Runs with other folders pass it.
   */
  #startNext(): void {
    if (this.#isClosing) return
    const entries = [...this.#entries.values()].filter(({ state }) => state !== 'removed')
    let active = entries.filter(({ state }) => state === 'active').length
    for (const [index, entry] of entries.entries()) {
      if (active >= CONCURRENCY) return
      const mustWait = entries.slice(0, index).some(({ task }) => excludeEachOther(task, entry.task))
      if (entry.state !== 'queued' || mustWait) continue
      active++
      entry.state = 'active'
      entry.execution = this.#execute(entry)
    }
  }

  find(runId: string): Run | undefined {
    return this.#entries.get(runId)?.run ?? this.#options.store.find(runId)
  }

  /** If the run is RUNNING, waits for its end, but only for the time that the options say. */
  async waitForEnd(runId: string): Promise<void> {
    const entry = this.#entries.get(runId)
    if (entry?.run.phase.status !== 'RUNNING') return
    await Promise.race([entry.finished.promise, delay(this.#options.endWaitMs, undefined, { ref: false })])
  }

  /** How far a run is. Undefined if its tests have not begun, or have ended. */
  progressOf(runId: string): Progress | undefined {
    return this.#entries.get(runId)?.tests?.progress()
  }

  /** Interrupts every unfinished run and waits until no task is active. */
  async close(): Promise<void> {
    this.#isClosing = true
    const reason = { status: 'INTERRUPTED', message: SERVICE_STOPPED } as const
    await Promise.all([...this.#entries.keys()].map((runId) => this.stop(runId, reason)))
    await Promise.all([...this.#entries.values()].map(({ execution }) => execution))
  }

  /** Cancels or interrupts a run. Returns whether the run has this end. If the run had finished, nothing changes. */
  async stop(runId: string, reason: StopReason): Promise<boolean> {
    const entry = this.#entries.get(runId)
    if (entry === undefined || isFinished(entry.run)) return false
    if (entry.state === 'queued') {
      this.#finish(entry, { ...reason, testCases: [] })
      this.#removeEntry(entry, undefined)
      this.#startNext()
    } else {
      entry.stop.abort(reason)
      await entry.finished.promise
    }
    return entry.run.phase.status === reason.status
  }

  /**
   * 1. Waits for the end of the task, or for a stop.
   * 2. If the run was cancelled or interrupted, shows its end to clients at once, with the test cases so far. Otherwise, the task says the
   *    outcome.
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
      const message = `the run exceeded its limit of ${runLimitMinutes} min. If its tests need more time, raise run-limit-minutes.`
      stop.abort({ status: 'TIMEDOUT', message } satisfies StopReason)
    }, runLimitMinutes * 60_000)
    const taskOutcome = this.#runTask(entry)
    await Promise.race([taskOutcome, once(stop.signal, 'abort')])
    // Once a run is stopped, for example by a cancel, its limit no longer applies.
    clearTimeout(limit)
    const reason: StopReason | undefined = stop.signal.reason
    if (reason?.status === 'CANCELLED' || reason?.status === 'INTERRUPTED') {
      this.#finish(entry, { ...reason, testCases: await this.#testCasesSoFar(entry) })
      await taskOutcome
    } else {
      // At the limit of the run, the task waits until its processes have ended. It returns TIMEDOUT, or the outcome that it has decided
      // before, for example FAILED if the limit stops the fix.
      this.#finish(entry, await taskOutcome)
    }
    // The response that says the end goes out first, because the search for processes takes long.
    await nextTurn()
    const isGone = await removeResources(run.runId, task.resources, this.#options)
    this.#removeEntry(entry, isGone ? undefined : task.resources)
    this.#startNext()
  }

  async #runTask(entry: Entry): Promise<RunOutcome> {
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

  async #testCasesSoFar({ run, tests }: Entry): Promise<RunOutcome['testCases']> {
    try {
      return (await tests?.testCases()) ?? []
    } catch (error) {
      // For example, no thread can be started.
      this.#logError(run, `the test cases so far could not be read: ${messageOf(error)}`)
      return []
    }
  }

  #finish(entry: Entry, outcome: RunOutcome): void {
    const { run, task, finished } = entry
    finishRun(run, outcome)
    finished.resolve()
    const { status, testCases, message } = outcome
    this.#log(run, `${status}, ${count(testCases.length, 'test case')}${message === undefined ? '' : `: ${message}`}`)
    // For a queued run, `#removeEntry` follows at once, and saves it.
    if (entry.state === 'active') this.#save(run, task.resources)
  }

  /** Only `left` may still be on the machine. If the store cannot save the run, the entry stays, because nothing else has the outcome. */
  #removeEntry(entry: Entry, left: RunResources | undefined): void {
    entry.state = 'removed'
    if (this.#save(entry.run, left)) this.#entries.delete(entry.run.runId)
  }

  /** Returns whether the store has taken the run. It may not, for example because the disk is full. */
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

/** If one folder is inside the other, a run could read what the other run writes, such as its report. */
function excludeEachOther(a: RunTask, b: RunTask): boolean {
  return isInside(a.folder, b.folder) || isInside(b.folder, a.folder)
}
