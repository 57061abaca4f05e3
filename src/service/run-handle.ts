/** A run, as this process knows it. */
export interface RunHandle {
  readonly id: string
  /** When this process learned of the run, as a time of the clock's `now()`. Absent if `run-id` names the run. */
  readonly knownSinceMs?: number | undefined
}

/** How long a new run may be unknown to some part of the service. */
const NOT_FOUND_GRACE_MS = 15_000

/** Whether a 404 for a request that was sent at this time means that the run does not exist. */
export function isNotFoundFinal({ knownSinceMs }: RunHandle, sentAtMs: number): boolean {
  return knownSinceMs === undefined || sentAtMs >= knownSinceMs + NOT_FOUND_GRACE_MS
}

/** What `isUsableRunId` accepts. */
export const RUN_ID_RULE = '1 to 256 characters: letters, digits and . _ ~ : = + / @ -'

/** Whether outputs, paths and state can safely contain this id. URL parsing would collapse `.` and `..`. */
export function isUsableRunId(runId: string): boolean {
  return /^[A-Za-z0-9._~:=+/@-]{1,256}$/.test(runId) && runId !== '.' && runId !== '..'
}
