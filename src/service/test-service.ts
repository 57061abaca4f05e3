import type { Run, StartParameters } from '../outcome/run.ts'
import type { RequestOptions } from './transport.ts'

/** One of the service's two workflows, as the action needs it. Every method throws ServiceError. */
export interface TestService {
  /** Starts a run and returns its id as the service sent it. Sends exactly one request. */
  start(parameters: StartParameters, options: RequestOptions): Promise<string>
  get(runId: string, options: RequestOptions): Promise<Run>
  /** Tells whether the service lists the run as cancelled. Absent if the workflow has no cancel. */
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<boolean>
}

export interface RunHandle {
  readonly id: string
  /** When the response to its start came, on the clock's `now()`; absent if this step did not start it. */
  readonly startedAtMs?: number | undefined
}

/** A run that was only just started may not be known yet to the part of the service that responds. */
const NOT_FOUND_GRACE_MS = 15_000

/** Whether a 404 for a request sent at this time means that there is no such run. */
export function isNotFoundFinal({ startedAtMs }: RunHandle, sentAtMs: number): boolean {
  return startedAtMs === undefined || sentAtMs >= startedAtMs + NOT_FOUND_GRACE_MS
}

/** The ids that outputs, paths and state can carry safely; `.` and `..` would be collapsed in a URL's path. */
export function isUsableRunId(runId: string): boolean {
  return /^[A-Za-z0-9._~:=+/@-]{1,256}$/.test(runId) && runId !== '.' && runId !== '..'
}
