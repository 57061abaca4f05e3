import { finishRun, isFinished, type OwnedRun, type Run, type RunOutcome, startRun } from './run.ts'
import { count } from './text.ts'

/**
 * What a run does. It settles when nothing of the run is left on the machine. `finishEarly` finishes the run for its
 * clients while the task continues, as auto-fix does. The signal aborts when the task must stop; the outcome then still
 * lists the test cases that finished.
 */
export type RunTask = (stop: AbortSignal, finishEarly: (outcome: RunOutcome) => void) => Promise<RunOutcome>

export interface RunQueueOptions {
  /** How many runs may run at once. */
  readonly slots: number
  readonly runLimitMs: number
  readonly log: (run: Run, text: string) => void
}

export interface RunQueue {
  /** False once the queue is closing. */
  add(run: OwnedRun, task: RunTask): boolean
  find(runId: string): Run | undefined
  /** False if the run has finished. */
  cancel(runId: string): boolean
  /** Interrupts every unfinished run and waits until no task is active. */
  close(): Promise<void>
}

interface Entry {
  readonly run: OwnedRun
  readonly task: RunTask
  readonly stop: AbortController
  active: boolean
}

/** How many finished runs are remembered, so that the memory of a service that runs for months does not grow. */
const REMEMBERED_RUNS = 1000

/** The state machine of all runs: first come, first served, on a fixed number of slots. */
export function createRunQueue({ slots, runLimitMs, log }: RunQueueOptions): RunQueue {
  const entries = new Map<string, Entry>()
  const waiting: Entry[] = []
  const active = new Set<Promise<void>>()
  let closing = false

  function fill(): void {
    while (!closing && active.size < slots) {
      const entry = waiting.shift()
      if (entry === undefined) return
      if (isFinished(entry.run)) continue
      entry.active = true
      const done = execute(entry).finally(() => {
        entry.active = false
        active.delete(done)
        fill()
      })
      active.add(done)
    }
  }

  async function execute({ run, task, stop }: Entry): Promise<void> {
    startRun(run, new Date())
    log(run, 'RUNNING')
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      log(run, `exceeded its limit of ${runLimitMs / 60_000} min; stopping it`)
      stop.abort()
    }, runLimitMs)
    const finishOnce = (outcome: RunOutcome) => {
      clearTimeout(limit)
      finish(run, timedOut ? { ...outcome, status: 'TIMEDOUT' } : outcome)
    }
    try {
      finishOnce(await task(stop.signal, finishOnce))
    } catch (error) {
      log(run, `failed to run: ${error instanceof Error ? error.message : String(error)}`)
      finishOnce({ status: 'INTERRUPTED', testCases: [] })
    }
  }

  function finish(run: OwnedRun, outcome: RunOutcome): void {
    if (!finishRun(run, outcome, new Date())) return
    log(run, `${outcome.status}, ${count(outcome.testCases.length, 'test case')}`)
    forgetOldest()
  }

  function forgetOldest(): void {
    const finished = [...entries.values()].filter((entry) => isFinished(entry.run) && !entry.active)
    for (const { run } of finished.slice(0, Math.max(0, finished.length - REMEMBERED_RUNS))) entries.delete(run.runId)
  }

  return {
    add(run, task) {
      if (closing) return false
      const entry = { run, task, stop: new AbortController(), active: false }
      entries.set(run.runId, entry)
      waiting.push(entry)
      log(run, 'QUEUED')
      fill()
      return true
    },
    find: (runId) => entries.get(runId)?.run,
    cancel(runId) {
      const entry = entries.get(runId)
      if (entry === undefined || isFinished(entry.run)) return false
      // Finished at once for its clients; its slot is free when its processes are gone.
      finish(entry.run, { status: 'CANCELLED', testCases: [] })
      entry.stop.abort()
      return true
    },
    async close() {
      closing = true
      for (const { run, stop } of [...entries.values()]) {
        finish(run, { status: 'INTERRUPTED', testCases: [] })
        stop.abort()
      }
      await Promise.all(active)
    },
  }
}
