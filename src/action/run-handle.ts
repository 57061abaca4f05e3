import { type Failure, isNotFound } from '../model/failure.ts'

// test/action/cancel-run.test.ts and test/action/wait-for-run.test.ts test what a 404 means.

/** A run, and what this process knows about it. */
export interface RunHandle {
  readonly id: string
  /**
   * When this step started the run, as a time of the clock's `now()`. Absent if the input `run-id` names the run. Post does not know
   * this time, so it takes the time at which it begins to cancel.
   */
  readonly startedMs?: number | undefined
}

/** For this long after a start, a 404 is not final, because perhaps not every server of the service knows the run yet. */
const NOT_FOUND_GRACE_MS = 15_000

/** Whether the response to a request that was sent at this time proves that the run does not exist. */
export function doesNotExist({ startedMs }: RunHandle, response: Failure, sentMs: number): boolean {
  return isNotFound(response) && (startedMs === undefined || sentMs >= startedMs + NOT_FOUND_GRACE_MS)
}
