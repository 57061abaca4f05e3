import PQueue from 'p-queue'
import type { Configuration } from '../configuration.ts'
import { count, messageOf } from '../text.ts'
import { createKeyedMutex } from '../workspace/keyed-mutex.ts'
import {
  CANCELLED,
  finishRun,
  interruptedBecause,
  isFinished,
  markCancelled,
  markRunning,
  type OwnedRun,
  type Run,
  type RunOutcome,
} from './run.ts'
import { NO_ROOM, type RunResources, saysNoRoom } from './run-resources.ts'
import { RunSaver, type SavedRun, type SaverOptions } from './run-saver.ts'

interface RunTask {
  readonly resources: RunResources
  /** If true, a run that is stopped while it is RUNNING finishes when its task settles. Otherwise, it finishes at once. */
  readonly finishesWhenSettled: boolean
  /** Runs with the same key are RUNNING one after the other. */
  readonly exclusiveKey?: string | undefined
  /**
   * Settles when the run's processes are gone. `finishEarly` finishes the run for its clients while the task continues,
   * for example with auto-fix. If the signal aborts, the task must stop. Its outcome still lists the test cases that
   * finished.
   */
  execute(stop: AbortSignal, finishEarly: (outcome: RunOutcome) => void): Promise<RunOutcome>
}

interface RunQueueOptions extends SaverOptions, Pick<Configuration, 'concurrency' | 'runLimitMs'> {
  /** Removes what a run has on the machine, and returns what it removed. */
  readonly removeResources: (runId: string, resources: RunResources) => Promise<readonly string[]>
  readonly onFinished?: ((run: Run, outcome: RunOutcome) => void) | undefined
}

interface Entry extends SavedRun {
  readonly task: RunTask
  readonly stop: AbortController
  /** Whether the task has begun and has not settled. The task of a finished run may be active, for example with auto-fix. */
  isActive: boolean
}

const STOPPED = 'the service was stopped'

/**
 * The state machine of all runs. Runs start in the order in which they came, and only a limited number runs at once. A run that
 * waits for a run with the same key lets others pass.
 */
export class RunQueue {
  readonly #options: RunQueueOptions
  readonly #saver: RunSaver
  /** A run stays here while it is unfinished, active or not saved. All other runs are only in the store. */
  readonly #entries = new Map<string, Entry>()
  readonly #slots: PQueue
  readonly #runExclusive = createKeyedMutex()
  #isClosing = false

  constructor(options: RunQueueOptions) {
    this.#options = options
    this.#slots = new PQueue({ concurrency: options.concurrency })
    this.#saver = new RunSaver(options, (saved) => this.#drop(saved as Entry))
  }

  /** Interrupts the runs that an earlier process of the service left unfinished, and removes what they left. */
  async recover(): Promise<void> {
    const { store, log } = this.#options
    for (const { run, resources } of store.findLeft()) {
      // The removal comes first, because the run's files may be what fills the disk.
      const removed = await this.#remove(run.runId, resources)
      if (removed.length > 0) log(run.runId, `left this, now removed: ${removed.join(', ')}`)
      const before = run.phase.status
      const outcome = interruptedBecause('the service died during the run')
      if (finishRun(run, outcome, new Date())) {
        log(run.runId, `${run.phase.status}: it was ${before} when the service died`)
        this.#options.onFinished?.(run, outcome)
      }
      store.save(run)
    }
    this.#saver.forgetOld()
    store.reserve()
  }

  /** Returns false if the queue is closing. */
  add(run: OwnedRun, task: RunTask): boolean {
    if (this.#isClosing) return false
    this.#options.store.add(run, task.resources)
    const entry = { run, task, stop: new AbortController(), isActive: false, isSaved: true }
    this.#entries.set(run.runId, entry)
    this.#options.log(run.runId, 'QUEUED')
    const runInSlot = () => this.#slots.add(() => this.#runInSlot(entry))
    void (task.exclusiveKey === undefined ? runInSlot() : this.#runExclusive(task.exclusiveKey, runInSlot))
    return true
  }

  find(runId: string): Run | undefined {
    return this.#entries.get(runId)?.run ?? this.#options.store.find(runId)
  }

  /** What a cancel did. If the run had finished, its auto-fix may still run, and the cancel stops it. */
  cancel(runId: string): 'cancelled' | 'auto-fix-stopped' | 'finished' {
    const entry = this.#entries.get(runId)
    if (entry === undefined) return 'finished'
    if (isFinished(entry.run)) {
      const isFixing = entry.isActive && !entry.stop.signal.aborted
      entry.stop.abort()
      return isFixing ? 'auto-fix-stopped' : 'finished'
    }
    markCancelled(entry.run)
    this.#stop(entry, CANCELLED)
    return 'cancelled'
  }

  /** Interrupts every unfinished run and waits until no task is active. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const entry of [...this.#entries.values()]) this.#stop(entry, interruptedBecause(STOPPED))
    await this.#slots.onIdle()
    this.#saver.close()
  }

  /** Stops a run, and finishes it now or when its task has settled. */
  #stop(entry: Entry, outcome: RunOutcome): void {
    const { run, task, stop } = entry
    stop.abort()
    if (run.phase.status === 'RUNNING' && task.finishesWhenSettled) this.#saver.save(entry)
    else this.#finish(entry, outcome)
    this.#drop(entry)
  }

  async #runInSlot(entry: Entry): Promise<void> {
    if (isFinished(entry.run)) return
    entry.isActive = true
    await this.#execute(entry)
    entry.isActive = false
    this.#drop(entry)
  }

  async #execute(entry: Entry): Promise<void> {
    const { run, task, stop } = entry
    const { runLimitMs, store, log } = this.#options
    const limitMinutes = runLimitMs / 60_000
    const message = `the run exceeded its limit of ${limitMinutes} min ("runLimitMinutes", or the input run-limit-minutes)`
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      log(run.runId, `exceeded its limit of ${limitMinutes} min; stopping it`)
      stop.abort()
    }, runLimitMs)
    // Once a run is stopped, for example by a cancel, its limit no longer applies.
    stop.signal.addEventListener('abort', () => clearTimeout(limit), { once: true })
    const explained = (outcome: RunOutcome): RunOutcome => {
      if (timedOut) return { ...outcome, status: 'TIMEDOUT', message }
      if (!stop.signal.aborted || outcome.status !== 'INTERRUPTED') return outcome
      return { ...outcome, message: outcome.message ?? STOPPED }
    }
    const finishOnce = (outcome: RunOutcome) => {
      clearTimeout(limit)
      this.#finish(entry, explained(outcome))
    }
    let outcome: RunOutcome
    try {
      markRunning(run, new Date())
      store.save(run)
      log(run.runId, 'RUNNING')
      outcome = await task.execute(stop.signal, finishOnce)
    } catch (error) {
      log(run.runId, `failed to run: ${messageOf(error)}`)
      const isFull = saysNoRoom(messageOf(error))
      outcome = interruptedBecause(isFull ? NO_ROOM : 'the service could not run the tests; its log says why')
    }
    await this.#remove(run.runId, task.resources)
    finishOnce(outcome)
  }

  /** If the run is finished already, changes nothing. */
  #finish(entry: Entry, outcome: RunOutcome): void {
    const { run } = entry
    if (!finishRun(run, outcome, new Date())) return
    const { phase } = run
    const cases = count('testCases' in phase ? phase.testCases.length : 0, 'test case')
    this.#options.log(run.runId, `${phase.status}, ${cases}`)
    this.#options.onFinished?.(run, outcome)
    this.#saver.save(entry)
  }

  async #remove(runId: string, resources: RunResources): Promise<readonly string[]> {
    const { store, log, removeResources } = this.#options
    try {
      const removed = await removeResources(runId, resources)
      this.#saver.attempt(runId, 'the removal of its files could not be saved', () => store.markRemoved(runId))
      return removed
    } catch (error) {
      // Some files cannot be removed, such as a container's files that belong to root. They do not change the outcome of the
      // tests.
      log(runId, `could not remove its files: ${messageOf(error)}`)
      return []
    }
  }

  /** If the run is finished and saved and its task has settled, removes the run from memory. The store still has it. */
  #drop({ run, isActive, isSaved }: Entry): void {
    if (isFinished(run) && !isActive && isSaved) this.#entries.delete(run.runId)
  }
}
