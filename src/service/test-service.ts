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
