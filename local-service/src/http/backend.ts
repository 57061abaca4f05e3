import { join } from 'node:path'
import { outputBytes, readOutput } from '../execution/output.ts'
import type { Selection } from '../frameworks/framework.ts'
import { describeRun, type Run } from '../runs/run.ts'
import { type ServiceContext, type StartParameters, startRun } from '../runs/start.ts'
import type { Configuration, Suite } from '../settings/configuration.ts'
import type { Project } from '../settings/project.ts'
import { quote } from '../text.ts'
import type { ServiceResponse } from './listen.ts'
import { type Backend, errorResponse, noRun, notCancellable, ok } from './request-handler.ts'
import { describeSuiteResult, describeSuiteStatus } from './suite-result.ts'

// The tests in local-service/test/interface test this file.

/** The interface's endpoints over the projects and runs of this service. */
export function createBackend({ projects, suites }: Configuration, service: ServiceContext): Backend {
  const { queue, outputs, onOutputRead } = service
  const findRun = (projectId: string, runId: string): Run | undefined => {
    const run = queue.find(runId)
    return run?.projectId === projectId && run.suite === undefined ? run : undefined
  }
  const findSuiteRun = (runId: string): Run | undefined => {
    const run = queue.find(runId)
    return run?.suite && run
  }
  async function start(
    project: Project,
    parameters: StartParameters,
    selection: Selection,
    toBody: (runId: string) => object,
    suite?: Suite,
  ): Promise<ServiceResponse> {
    const started = await startRun(service, { project, parameters, selection, suite })
    return started.kind === 'started' ? ok(toBody(started.run.runId)) : errorResponse(started.status, started.error)
  }
  return {
    async startRun(projectId, parameters) {
      const project = projects.get(projectId)
      if (project === undefined) return nothingNamed('project', projectId, projects)
      const selection = { frameworkProjects: namesIn(parameters.frameworkProjectName), files: [] }
      return start(project, parameters, selection, (runId) => ({ runId }))
    },
    async getRun(projectId, runId) {
      const run = findRun(projectId, runId)
      if (run === undefined) return noRun(runId)
      const progress = queue.progressOf(runId)
      return ok({ ...describeRun(run), progress, outputBytes: outputBytes(join(outputs, runId)) })
    },
    async getOutput(projectId, runId, from) {
      if (findRun(projectId, runId) === undefined) return noRun(runId)
      const part = readOutput(join(outputs, runId), from)
      if (typeof part === 'string') return errorResponse(400, part)
      onOutputRead?.(runId, part.next)
      return ok(part)
    },
    async cancelRun(projectId, runId) {
      const run = findRun(projectId, runId)
      if (run === undefined) return noRun(runId)
      return queue.cancel(runId) ? ok({ cancelled: [{ runId }] }) : notCancellable(runId, run.phase.status)
    },
    async startSuite(testSuiteId, parameters) {
      const suite = suites.get(testSuiteId)
      if (suite === undefined) return nothingNamed('test suite', testSuiteId, suites)
      const { name: testSuiteName, project, selection } = suite
      const toBody = (testSuiteRunId: string) => ({ testSuiteRunId, testSuiteName, projectId: project.id })
      return start(project, parameters, selection, toBody, suite)
    },
    async getSuiteStatus(runId) {
      const run = findSuiteRun(runId)
      return run ? ok(describeSuiteStatus(run)) : noRun(runId)
    },
    async getSuiteResult(runId) {
      const run = findSuiteRun(runId)
      return run ? ok(describeSuiteResult(run)) : noRun(runId)
    },
  }
}

/** The interface says "name(s)". A list is separated by commas, because a name may contain spaces. */
function namesIn(frameworkProjectName: string | undefined): string[] {
  return (frameworkProjectName ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function nothingNamed(what: string, id: string, known: ReadonlyMap<string, unknown>): ServiceResponse {
  const list = [...known.keys()].map((name) => quote(name)).join(', ') || 'none'
  return errorResponse(404, `There is no ${what} ${quote(id)}. The ${what}s of this service: ${list}.`)
}
