import { decodeCancelled, decodeRun, decodeStarted } from './decode.ts'
import type { SendJson } from './response.ts'
import type { TestService } from './test-service.ts'

export function projectRuns(send: SendJson, projectId: string): TestService {
  const runs = ['v1', 'projects', projectId, 'runs']
  return {
    async start(parameters, options) {
      const body = {
        frameworkProjectName: parameters.frameworkProject,
        runGroupName: parameters.runGroup,
        envOverrides: parameters.envOverrides,
        environment: parameters.environment,
        autofix: parameters.autofix,
        branch: parameters.branch,
      }
      return decodeStarted((await send('POST', runs, body, options)).json, 'runId')
    },
    async get(runId, options) {
      return decodeRun(await send('GET', [...runs, runId], undefined, options))
    },
    async cancel(runId, options) {
      const { json } = await send('POST', [...runs, 'cancel'], { where: { runId } }, options)
      return decodeCancelled(json).includes(runId)
    },
  }
}
