import { begin, end, isOver, type OwnedRun, type Run, type RunOutcome } from './run.ts'

/**
 * Does a run's work, in a place of its own. It settles when nothing of the run is left on the machine. `announce` may
 * be called before: it ends the run for its clients while the work goes on, as auto-fix does. The signal aborts when
 * the work must stop; the outcome then still tells which test cases were through.
 */
export type Work = (stop: AbortSignal, announce: (outcome: RunOutcome) => void) => Promise<RunOutcome>

export interface RunQueueOptions {
  /** How many runs may be at work at once. */
  readonly places: number
  readonly runLimitMs: number
  readonly log: (run: Run, text: string) => void
}

export interface RunQueue {
  /** False once the queue is closing: nothing is taken any more. */
  add(run: OwnedRun, work: Work): boolean
  find(runId: string): Run | undefined
  /** False where the run is over. */
  cancel(runId: string): boolean
  /** Interrupts what is not over and waits until nothing is at work. */
  close(): Promise<void>
}

interface Entry {
  readonly run: OwnedRun
  readonly work: Work
  readonly stop: AbortController
  atWork: boolean
}

/** How many runs that are over are remembered, so that a service that runs for months does not grow. */
const REMEMBERED_RUNS = 1000

/** The state machine of all runs: first come, first served, on a fixed number of places. */
export function createRunQueue({ places, runLimitMs, log }: RunQueueOptions): RunQueue {
  const entries = new Map<string, Entry>()
  const waiting: Entry[] = []
  const atWork = new Set<Promise<void>>()
  let closing = false

  function fill(): void {
    while (!closing && atWork.size < places) {
      const entry = waiting.shift()
      if (entry === undefined) return
      if (isOver(entry.run)) continue
      entry.atWork = true
      const done = workOn(entry).finally(() => {
        entry.atWork = false
        atWork.delete(done)
        fill()
      })
      atWork.add(done)
    }
  }

  async function workOn({ run, work, stop }: Entry): Promise<void> {
    begin(run, new Date())
    log(run, 'RUNNING')
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      log(run, `over its limit of ${runLimitMs / 60_000} min, stopping it`)
      stop.abort()
    }, runLimitMs)
    const announce = (outcome: RunOutcome) => {
      clearTimeout(limit)
      finish(run, timedOut ? { ...outcome, status: 'TIMEDOUT' } : outcome)
    }
    try {
      announce(await work(stop.signal, announce))
    } catch (error) {
      log(run, `could not be run: ${error instanceof Error ? error.message : String(error)}`)
      announce({ status: 'INTERRUPTED', testCases: [] })
    }
  }

  function finish(run: OwnedRun, outcome: RunOutcome): void {
    if (!end(run, outcome, new Date())) return
    log(run, `${outcome.status}, ${outcome.testCases.length} test cases`)
    forgetTheOldest()
  }

  function forgetTheOldest(): void {
    const over = [...entries.values()].filter((entry) => isOver(entry.run) && !entry.atWork)
    for (const { run } of over.slice(0, Math.max(0, over.length - REMEMBERED_RUNS))) entries.delete(run.runId)
  }

  return {
    add(run, work) {
      if (closing) return false
      const entry = { run, work, stop: new AbortController(), atWork: false }
      entries.set(run.runId, entry)
      waiting.push(entry)
      log(run, 'QUEUED')
      fill()
      return true
    },
    find: (runId) => entries.get(runId)?.run,
    cancel(runId) {
      const entry = entries.get(runId)
      if (entry === undefined || isOver(entry.run)) return false
      // Over at once for its clients; its place is free when its processes are gone.
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
      await Promise.all(atWork)
    },
  }
}
