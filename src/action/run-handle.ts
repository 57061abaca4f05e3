// test/action/cancel-run.test.ts and test/action/wait-for-run.test.ts test what a handle says about a 404.

/** A run, and what this process knows about it. Times are those of the clock's `now()`. */
export interface RunHandle {
  readonly id: string
  /** When this process learned the id. */
  readonly learnedMs: number
  /** A 404 means that the run does not exist if the request was sent at this time or later. */
  readonly notFoundIsFinalFromMs: number
  /** Whether the service has responded to this step before. */
  readonly hasServiceResponded: boolean
}

/** How long a new run may be unknown to some part of the service. */
const NOT_FOUND_GRACE_MS = 15_000

/** Before this process began. */
const SINCE_EVER = Number.NEGATIVE_INFINITY

/** A run that this step has started. In main, the start's response has just come. Post counts from its own beginning. */
export function startedRun(id: string, nowMs: number): RunHandle {
  return { id, learnedMs: nowMs, notFoundIsFinalFromMs: nowMs + NOT_FOUND_GRACE_MS, hasServiceResponded: true }
}

/** The run that the input `run-id` names. */
export function givenRun(id: string): RunHandle {
  return { id, learnedMs: SINCE_EVER, notFoundIsFinalFromMs: SINCE_EVER, hasServiceResponded: false }
}
