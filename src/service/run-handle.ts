/** A run, as this process knows it. */
export interface RunHandle {
  readonly id: string
  /** Since when this process knows of the run, on the clock's `now()`. Absent if `run-id` names the run. */
  readonly knownSinceMs?: number | undefined
}

/** A run that was only just started may not be known yet to the part of the service that responds. */
const NOT_FOUND_GRACE_MS = 15_000

/** Whether a 404 for a request that was sent at this time means that the run does not exist. */
export function isNotFoundFinal({ knownSinceMs }: RunHandle, sentAtMs: number): boolean {
  return knownSinceMs === undefined || sentAtMs >= knownSinceMs + NOT_FOUND_GRACE_MS
}

/** The ids that outputs, paths and state can carry safely; `.` and `..` would be collapsed in a URL's path. */
export function isUsableRunId(runId: string): boolean {
  return /^[A-Za-z0-9._~:=+/@-]{1,256}$/.test(runId) && runId !== '.' && runId !== '..'
}
