import type { Failure } from '../model/failure.ts'
import type { Run, StartParameters } from '../model/run.ts'
import { decodeCancelled, decodeOutput, decodeRun, decodeStarted, type OutputPart } from './decode.ts'
import type { SendJson } from './requests.ts'
import type { RequestOptions } from './transport.ts'

/** The requests of one of the service's two workflows. */
export interface RunRequests {
  /** Starts a run and returns its id. Sends exactly one request. */
  start(parameters: StartParameters, options: RequestOptions): Promise<string | Failure>
  get(runId: string, options: RequestOptions): Promise<Run | Failure>
  /** Absent if the workflow has no cancel. */
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<true | Failure>
  /** Reads the output of the run's tests from a byte on. Absent if the workflow has no output. */
  readonly output?:
    | ((runId: string, from: number, options: RequestOptions) => Promise<OutputPart | Failure>)
    | undefined
}

/** The runs of a project: the paths below /v1/projects in docs/openapi.yaml. */
export function projectRuns(send: SendJson, projectId: string): RunRequests {
  const runs = ['v1', 'projects', projectId, 'runs']
  return {
    start(parameters, options) {
      const body = {
        frameworkProjectName: parameters.frameworkProject,
        envOverrides: parameters.envOverrides,
        environment: parameters.environment,
        autofix: parameters.autofix,
        branch: parameters.branch,
      }
      return send('POST', runs, body, options, (json) => decodeStarted(json, 'runId'))
    },
    get(runId, options) {
      return send('GET', [...runs, runId], undefined, options, decodeRun)
    },
    cancel(runId, options) {
      const path = [...runs, 'cancel']
      const decode = (json: unknown) => decodeCancelled(json).includes(runId) || ({ kind: 'not-listed' } as const)
      return send('POST', path, { where: { runId } }, options, decode)
    },
    output(runId, from, options) {
      const path = [...runs, runId, 'output']
      return send('GET', path, undefined, { ...options, query: `?from=${from}` }, (json) => decodeOutput(json, from))
    },
  }
}
