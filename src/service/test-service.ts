import type { Run, StartParameters } from '../outcome/run.ts'
import type { RequestOptions } from './http.ts'

/** One of the service's two workflows, as the action needs it. Every method throws ServiceError. */
export interface TestService {
  /** Starts a run and returns its id as the service sent it. Sends exactly one request. */
  start(parameters: StartParameters, options: RequestOptions): Promise<string>
  get(runId: string, options: RequestOptions): Promise<Run>
  /** Tells whether the service lists the run as cancelled. Absent if the workflow has no cancel. */
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<boolean>
}

/** The ids that outputs, paths and state can carry safely; `.` and `..` would be collapsed in a URL's path. */
export function isUsableRunId(runId: string): boolean {
  return /^[A-Za-z0-9._~:=+/@-]{1,256}$/.test(runId) && runId !== '.' && runId !== '..'
}
