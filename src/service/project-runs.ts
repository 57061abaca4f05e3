import { decodeCancelled, decodeOutput, decodeRun, decodeStarted } from './decode.ts'
import type { RunRequests, SendJson } from './requests.ts'

/** The runs of a project: the paths below /v1/projects in docs/openapi.yaml. */
export function projectRuns(send: SendJson, projectId: string): RunRequests {
  const runs = ['v1', 'projects', projectId, 'runs']
  return {
    start(parameters, options) {
      const { branch, environment, frameworkProject, envOverrides, autofix } = parameters
      const body = { branch, environment, frameworkProjectName: frameworkProject, envOverrides, autofix }
      return send({ method: 'POST', path: runs, body }, options, (json) => decodeStarted(json, 'runId'))
    },
    get(runId, options) {
      return send({ method: 'GET', path: [...runs, runId] }, options, decodeRun)
    },
    cancel(runId, options) {
      const request = { method: 'POST', path: [...runs, 'cancel'], body: { where: { runId } } } as const
      const decode = (json: unknown) =>
        decodeCancelled(json).includes(runId) || ({ failure: true, kind: 'not-listed' } as const)
      return send(request, options, decode)
    },
    output(runId, from, options) {
      const request = { method: 'GET', path: [...runs, runId, 'output'], query: `?from=${from}` } as const
      return send(request, options, (json) => decodeOutput(json, from))
    },
  }
}
