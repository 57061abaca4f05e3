import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { readConfiguration, type Settings, type Suite } from './configuration.ts'
import { findEngine } from './containers/container.ts'
import type { Selection } from './frameworks/framework.ts'
import { listen, sendResponse, toServiceRequest } from './http/listen.ts'
import type { StartParameters } from './http/request-bodies.ts'
import {
  type Backend,
  errorResponse,
  handleRequest,
  noRun,
  notCancellable,
  ok,
  type ServiceResponse,
} from './http/request-handler.ts'
import { describeSuiteResult, describeSuiteStatus } from './http/suite-result.ts'
import type { Project } from './project.ts'
import { findSharedFolder, openDataFolder, toConfigurationError } from './runs/data-folder.ts'
import { describeRun, queueRun, type Run } from './runs/run.ts'
import { createRunQueue, type RunTask } from './runs/run-queue.ts'
import { removeResources, resourcesOf } from './runs/run-resources.ts'
import { describeStoreError } from './runs/run-store.ts'
import { runTests, type TestRun } from './runs/run-tests.ts'
import { baseEnvironment, personalEnvironment } from './runs/test-environment.ts'
import { quote, toLogText } from './text.ts'
import { type Checkout, chooseCheckout } from './workspace/checkout.ts'
import { createKeyedMutex } from './workspace/keyed-mutex.ts'
import { openRepository } from './workspace/work-tree.ts'

export type { Settings } from './configuration.ts'

export interface World {
  /** Relative folders in the settings start here; without projects in them, it is the project. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** The default for the setting `data`. With `none`, a temporary folder is created beside it. */
  readonly dataFolder: string
  readonly temporaryFolder: string
  /** How long a container engine may take to respond. */
  readonly responseLimitMs?: number | undefined
  readonly log: (line: string) => void
}

export interface LocalService {
  readonly url: string
  readonly keys: readonly string[]
  readonly projects: readonly { readonly id: string; readonly folder: string; readonly framework: string }[]
  /** Interrupts every unfinished run, waits until its processes and work trees are gone, then frees the port. */
  close(): Promise<void>
}

/** Starts a test run service that really runs tests. Throws a ConfigurationError for settings it cannot use. */
export async function startLocalService(settings: Settings, world: World): Promise<LocalService> {
  if (process.platform === 'win32') {
    throw new Error('The local service stops tests by process group, which Windows does not have. Use Linux or macOS.')
  }
  const configuration = readConfiguration(settings, world.folder)
  const { projects, suites, stopGraceMs, autofixLimitMs } = configuration
  const keys = configuration.keys.length > 0 ? configuration.keys : [randomBytes(24).toString('base64url')]
  const env = personalEnvironment(world.env)
  const log = (text: string) => world.log(`${new Date().toISOString()} ${toLogText(text)}`)
  const runExclusive = createKeyedMutex()
  const engineOptions = { env, responseLimitMs: world.responseLimitMs }
  const data = openDataFolder(configuration.data, world.dataFolder, projects.values())
  const queue = createRunQueue({
    ...configuration,
    store: data.store,
    log: (runId, text) => log(`run ${runId} ${text}`),
    removeResources: (runId, resources) => removeResources(runId, resources, { ...engineOptions, runExclusive }),
  })
  const temporaryFolder = realpathSync(world.temporaryFolder)
  const sharedFolder = findSharedFolder(data.path)
  if (sharedFolder !== undefined) {
    log(`warning: other users can write to ${sharedFolder}: tests may load packages that somebody else put there`)
  }

  async function start(
    project: Project,
    parameters: StartParameters,
    selection: Selection,
    suite?: Suite,
  ): Promise<{ run: Run } | ServiceResponse> {
    const environmentName = parameters.environment ?? project.defaultEnvironment
    const environment = environmentName === undefined ? {} : project.environments.get(environmentName)
    if (environment === undefined) {
      const known = [...project.environments.keys()].map(quote).join(', ') || 'none'
      const error = `Project ${quote(project.id)} has no environment ${quote(environmentName)}. Its environments: ${known}.`
      return errorResponse(400, error)
    }
    const mayFix = parameters.autofix && project.autofix !== undefined
    const branch = parameters.branch ?? project.defaultBranch
    const checkout = await chooseCheckout(project, branch, mayFix, await openRepository(project.folder, env))
    // Without a branch in the request, it is the configured one that does not exist.
    const isConfigured = parameters.branch === undefined && project.defaultBranch !== undefined
    if (checkout.kind === 'refused') return errorResponse(isConfigured ? 500 : 400, checkout.error)
    const found = project.container && (await findEngine(project.container.engine, engineOptions))
    const engine = found?.engine
    if (found !== undefined && engine === undefined) {
      const error = `Project ${quote(project.id)} needs a container engine, and none works: ${found.reason}.`
      return errorResponse(500, error)
    }
    const run = queueRun({
      projectId: project.id,
      suite: suite && { id: suite.id, name: suite.name },
      branchName: checkout.branchName,
    })
    const resources = resourcesOf(run.runId, {
      dataFolder: data.path,
      temporaryFolder,
      gitFolder: checkout.kind === 'work-tree' ? checkout.place.gitFolder : undefined,
      engine: engine?.name,
    })
    const logOfRun = (text: string) => log(`run ${run.runId} ${text}`)
    const { autofix, envOverrides } = parameters
    const testRun: TestRun = {
      runId: run.runId,
      project,
      checkout,
      selection,
      env: { ...baseEnvironment(resources, engine === undefined ? env : undefined), ...environment, ...envOverrides },
      engine,
      autofix,
      resources,
      autofixLimitMs,
      stopGraceMs,
      log: logOfRun,
      runExclusive,
    }
    const task: RunTask = {
      resources,
      finishesWhenGone: project.container !== undefined,
      execute: (stop, finishEarly) => runTests(testRun, stop, finishEarly),
    }
    logOfRun(`is for project ${quote(project.id)}, ${describeCheckout(checkout)}`)
    if (engine !== undefined) {
      logOfRun(`runs in containers of ${engine.name}${found?.reason ? ` (${found.reason})` : ''}`)
    }
    if (parameters.ignored.length > 0) logOfRun(`ignores the fields ${quote(parameters.ignored)}`)
    try {
      return queue.add(run, task) ? { run } : errorResponse(500, 'The service is stopping and takes no more runs.')
    } catch (error) {
      const reason = describeStoreError(error as Error, data.path)
      logOfRun(`is not started: ${reason}`)
      return errorResponse(500, `Nothing was started. ${reason}`)
    }
  }

  const findRun = (projectId: string, runId: string): Run | undefined => {
    const run = queue.find(runId)
    return run?.projectId === projectId && run.suite === undefined ? run : undefined
  }
  const findSuiteRun = (runId: string): Run | undefined => {
    const run = queue.find(runId)
    return run?.suite && run
  }

  const backend: Backend = {
    async startRun(projectId, parameters) {
      const project = projects.get(projectId)
      if (project === undefined) return nothingNamed('project', projectId, projects)
      const frameworkProjects = namesIn(parameters.frameworkProjectName)
      const started = await start(project, parameters, { frameworkProjects, files: [] })
      return 'run' in started ? ok({ runId: started.run.runId }) : started
    },
    async getRun(projectId, runId) {
      const run = findRun(projectId, runId)
      return run ? ok(describeRun(run)) : noRun(runId)
    },
    async cancelRun(projectId, runId) {
      const run = findRun(projectId, runId)
      if (run === undefined) return noRun(runId)
      switch (queue.cancel(runId)) {
        case 'cancelled':
          return ok({ cancelled: [{ runId }] })
        case 'auto-fix-stopped':
          return notCancellable(runId, run.phase.status, 'Its auto-fix was stopped.')
        case 'finished':
          return notCancellable(runId, run.phase.status)
      }
    },
    async startSuite(testSuiteId, parameters) {
      const suite = suites.get(testSuiteId)
      if (suite === undefined) return nothingNamed('test suite', testSuiteId, suites)
      const started = await start(suite.project, parameters, suite.selection, suite)
      if (!('run' in started)) return started
      return ok({ testSuiteRunId: started.run.runId, testSuiteName: suite.name, projectId: suite.project.id })
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

  const closeData = () => data.close().catch((error: Error) => log(`could not close the data folder: ${error.message}`))
  const openListener = async () => {
    await queue.recover().catch((error: unknown) => {
      throw toConfigurationError(error, data.path)
    })
    return listen({ port: configuration.port }, async (message, response) => {
      const result = await handleRequest(toServiceRequest(message, response), keys, backend).catch((error: unknown) => {
        log(`a request failed: ${error instanceof Error ? error.stack : String(error)}`)
        return errorResponse(500, 'The service failed to handle this request; its log says why.')
      })
      sendResponse(response, result)
    })
  }
  const listener = await openListener().catch(async (error: unknown) => {
    await closeData()
    throw error
  })

  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    // It responds until the end, so that clients that poll learn that their run is interrupted.
    await queue.close()
    await listener.close()
    await closeData()
  }
  return {
    url: listener.url,
    keys,
    projects: [...projects.values()].map(({ id, folder, framework }) => ({ id, folder, framework: framework.name })),
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

/** The interface says "name(s)": a list is separated by commas, because a name may contain spaces. */
function namesIn(frameworkProjectName: string | undefined): string[] {
  return (frameworkProjectName ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function describeCheckout(checkout: Checkout): string {
  if (checkout.kind === 'in-place') return 'its folder as it stands'
  if (checkout.kind === 'copy') return 'a copy of its folder as it stands'
  return `branch ${quote(checkout.branchName)} at ${checkout.commit}`
}

function nothingNamed(what: string, id: string, known: ReadonlyMap<string, unknown>): ServiceResponse {
  const list = [...known.keys()].map((name) => quote(name)).join(', ') || 'none'
  return errorResponse(404, `There is no ${what} ${quote(id)} here. What there is: ${list}.`)
}
