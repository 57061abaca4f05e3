import type { Failure } from '../outcome/failure.ts'
import type { Run, StartParameters } from '../outcome/run.ts'
import type { RequestOptions } from './transport.ts'

/** One of the service's two workflows, as the action needs it. If a request fails, its method returns the failure. */
export interface TestService {
  /** Starts a run and returns its id as the service sent it. Sends exactly one request. */
  start(parameters: StartParameters, options: RequestOptions): Promise<string | Failure>
  get(runId: string, options: RequestOptions): Promise<Run | Failure>
  /**
   * True if the response lists the run as cancelled. False if the service accepted the cancel, but does not list the run.
   * Absent if the workflow has no cancel.
   */
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<boolean | Failure>
}
