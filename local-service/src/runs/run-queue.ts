import type { Configuration } from '../configuration.ts'
import { count } from '../text.ts'
import {
  CANCELLED,
  finishRun,
  isFinished,
  markCancelled,
  type OwnedRun,
  type Run,
  type RunOutcome,
  startRun,
} from './run.ts'
import { NO_ROOM, type RunResources, saysNoRoom } from './run-resources.ts'
import type { RunStore } from './run-store.ts'

/** What a run does. */
export interface RunTask {
  readonly resources: RunResources
  /** A cancelled or interrupted run then finishes when its task does, and not at once. */
  readonly finishesWhenGone: boolean
  /**
   * Settles when the run's processes are gone. `finishEarly` finishes the run for its clients while the task continues, as
   * auto-fix does. The signal aborts when the task must stop; the outcome then still lists the test cases that finished.
   */
  execute(stop: AbortSignal, finishEarly: (outcome: RunOutcome) => void): Promise<RunOutcome>
}

export interface RunQueueOptions extends Pick<Configuration, 'concurrency' | 'runLimitMs' | 'keepRuns' | 'keepMs'> {
  readonly store: RunStore
  /** Removes what a run has on the machine, and says what it was. */
  readonly removeResources: (runId: string, resources: RunResources) => Promise<readonly string[]>
  readonly log: (runId: string, text: string) => void
}

interface Entry {
  readonly run: OwnedRun
  readonly task: RunTask
  readonly stop: AbortController
  isActive: boolean
  /** Whether the store has the run as it is. */
  isSaved: boolean
}

const STOPPED = 'the service was stopped'
/** How often a run that could not be saved is tried again. */
const SAVE_RETRY_MS = 1000

function interruptedBecause(problem: string): RunOutcome {
  return { status: 'INTERRUPTED', testCases: [], problem }
}

/** The state machine of all runs: first come, first served, a limited number at once. */
export function createRunQueue(options: RunQueueOptions) {
  const { concurrency, runLimitMs, store, log } = options
  /** Runs that are unfinished, active or not saved; the others are in the store only. */
  const entries = new Map<string, Entry>()
  const waiting: Entry[] = []
  const active = new Set<Promise<void>>()
  let closing = false
  let retry: NodeJS.Timeout | undefined

  function fill(): void {
    while (!closing && active.size < concurrency) {
      const entry = waiting.shift()
      if (entry === undefined) return
      if (isFinished(entry.run)) continue
      entry.isActive = true
      const done = execute(entry).finally(() => {
        entry.isActive = false
        drop(entry)
        active.delete(done)
        fill()
      })
      active.add(done)
    }
  }

  /** From then on, the store alone has the run. */
  function drop({ run, isActive, isSaved }: Entry): void {
    if (isFinished(run) && !isActive && isSaved) entries.delete(run.runId)
  }

  async function execute(entry: Entry): Promise<void> {
    const { run, task, stop } = entry
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      log(run.runId, `exceeded its limit of ${runLimitMs / 60_000} min; stopping it`)
      stop.abort()
    }, runLimitMs)
    const finishOnce = (outcome: RunOutcome) => {
      clearTimeout(limit)
      const problem = `the run exceeded its limit of ${runLimitMs / 60_000} min`
      if (timedOut) finish(entry, { ...outcome, status: 'TIMEDOUT', problem })
      else if (!stop.signal.aborted || outcome.status !== 'INTERRUPTED') finish(entry, outcome)
      else finish(entry, { ...outcome, problem: outcome.problem ?? STOPPED })
    }
    let outcome: RunOutcome
    try {
      startRun(run, new Date())
      store.save(run)
      log(run.runId, 'RUNNING')
      outcome = await task.execute(stop.signal, finishOnce)
    } catch (error) {
      log(run.runId, `failed to run: ${messageOf(error)}`)
      const isFull = saysNoRoom(messageOf(error))
      outcome = interruptedBecause(isFull ? NO_ROOM : 'the service could not run the tests; its log says why')
    }
    await remove(run.runId, task.resources)
    finishOnce(outcome)
  }

  async function remove(runId: string, resources: RunResources): Promise<readonly string[]> {
    try {
      const removed = await options.removeResources(runId, resources)
      attempt(runId, 'the removal of its files could not be saved', () => store.markRemoved(runId))
      return removed
    } catch (error) {
      // Files that cannot be removed, such as a container's that belong to root, do not change how the tests went.
      log(runId, `could not remove its files: ${messageOf(error)}`)
      return []
    }
  }

  function finish(entry: Entry, outcome: RunOutcome): void {
    const { run } = entry
    if (!finishRun(run, outcome, new Date())) return
    const { phase } = run
    log(run.runId, `${phase.status}, ${count('testCases' in phase ? phase.testCases.length : 0, 'test case')}`)
    save(entry)
  }

  /** Clients learn what became of a run even if it cannot be saved, as on a full disk. It is then tried again. */
  function save(entry: Entry): void {
    const { run } = entry
    entry.isSaved = attempt(run.runId, 'could not be saved', () => store.save(run))
    if (!entry.isSaved) saveLater()
    else if (isFinished(run)) attempt(run.runId, 'could not forget older runs', forgetOld)
  }

  function saveAgain(): void {
    retry = undefined
    for (const entry of entries.values()) {
      if (entry.isSaved) continue
      try {
        store.save(entry.run)
      } catch {
        saveLater()
        return
      }
      entry.isSaved = true
      log(entry.run.runId, 'is saved now')
      drop(entry)
    }
  }

  function saveLater(): void {
    retry ??= setTimeout(saveAgain, SAVE_RETRY_MS).unref()
  }

  function attempt(runId: string, whatFailed: string, action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      log(runId, `${whatFailed}: ${messageOf(error)}`)
      return false
    }
  }

  function forgetOld(): void {
    store.forget(options.keepRuns, new Date(Date.now() - options.keepMs))
  }

  /** Stops a run, and finishes it now or when its task has settled. */
  function stop(entry: Entry, outcome: RunOutcome): void {
    entry.stop.abort()
    if (!entry.isActive || !entry.task.finishesWhenGone) finish(entry, outcome)
    drop(entry)
  }

  return {
    /** Interrupts the runs that an earlier process of the service left unfinished, and removes what they left. */
    async recover(): Promise<void> {
      for (const { run, resources } of store.findLeft()) {
        // It may be what fills the disk.
        const removed = await remove(run.runId, resources)
        if (removed.length > 0) log(run.runId, `removed what was left of it: ${removed.join(', ')}`)
        const before = run.phase.status
        if (finishRun(run, interruptedBecause('the service died during the run'), new Date())) {
          log(run.runId, `${run.phase.status}: it was ${before} when the service died`)
        }
        store.save(run)
      }
      forgetOld()
      store.reserve()
    },
    /** False once the queue is closing. */
    add(run: OwnedRun, task: RunTask): boolean {
      if (closing) return false
      store.add(run, task.resources)
      const entry = { run, task, stop: new AbortController(), isActive: false, isSaved: true }
      entries.set(run.runId, entry)
      waiting.push(entry)
      log(run.runId, 'QUEUED')
      fill()
      return true
    },
    find: (runId: string): Run | undefined => entries.get(runId)?.run ?? store.find(runId),
    /** What a cancel did: nothing if the run had finished, but then its auto-fix may still run and is stopped. */
    cancel(runId: string): 'cancelled' | 'auto-fix-stopped' | 'finished' {
      const entry = entries.get(runId)
      if (entry === undefined) return 'finished'
      if (isFinished(entry.run)) {
        const isFixing = entry.isActive && !entry.stop.signal.aborted
        entry.stop.abort()
        return isFixing ? 'auto-fix-stopped' : 'finished'
      }
      const isCancelling = entry.isActive && entry.task.finishesWhenGone
      if (isCancelling) markCancelled(entry.run)
      stop(entry, CANCELLED)
      if (isCancelling) save(entry)
      return 'cancelled'
    },
    /** Interrupts every unfinished run and waits until no task is active. */
    async close(): Promise<void> {
      closing = true
      for (const entry of [...entries.values()]) stop(entry, interruptedBecause(STOPPED))
      await Promise.all(active)
      clearTimeout(retry)
      saveAgain()
      clearTimeout(retry)
      for (const { run } of entries.values()) log(run.runId, 'is not saved, and INTERRUPTED after a restart')
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
