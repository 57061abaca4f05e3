import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { ROOT } from '../../../test/documents/documents.ts'
import { type InstalledVersion, installPackages, writeFiles } from '../../../test/support/git-repository.ts'
import { isAlive } from '../../../test/support/is-alive.ts'
import { expectConformingResponse } from '../../../test/support/openapi.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { until } from '../../../test/support/until.ts'
import { RunOutput } from '../../src/execution/output.ts'
import type { RunContext } from '../../src/execution/project-command.ts'
import { resourcesOf } from '../../src/execution/resources.ts'
import type { TestCase } from '../../src/frameworks/report.ts'
import { type LocalService, type ServiceOptions, startLocalService } from '../../src/service.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'

export { isAlive, temporaryFolder, until }

export const WEB_SHOP = join(ROOT, 'examples/web-shop')
export const KEY = 'a-key-for-tests'

/** What test processes inherit in tests: nothing of the Vitest that runs these tests. */
export const PLAIN_ENV = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}

export interface RunObject {
  readonly status: string
  readonly startedAt: string | null
  readonly finishedAt?: string
  readonly branchName?: string
  readonly message?: string
  readonly outputBytes?: number
  readonly progress?: object
  readonly results?: { readonly testCases: readonly TestCase[] }
}

/** A client of a service, for one project. Each response that it gets must be as `docs/openapi.yaml` has it. */
export function clientOf(url: string, key: string, projectId = 'web-shop') {
  async function send(method: string, path: string, body?: unknown) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it finds
    const exchange = { method, path, status: response.status, body: (await response.json()) as any }
    expectConformingResponse(exchange)
    return { status: exchange.status, body: exchange.body }
  }
  const runs = `/v1/projects/${projectId}/runs`
  const client = {
    send,
    get: (runId: string) => send('GET', `${runs}/${runId}`),
    start: (body: object = {}) => send('POST', runs, body),
    /** Starts a run that has to be accepted and gives its id. */
    async startRun(body?: object): Promise<string> {
      const { status, body: response } = await client.start(body)
      if (status !== 200) throw new Error(`The start was refused with ${status}: ${response.error}`)
      return response.runId
    },
    /** The finished run. */
    run: async (body?: object) => client.waitFor(await client.startRun(body)),
    /** Starts a run of a suite. The result is that of the finished run. */
    async runSuite(suiteId: string, body?: object) {
      const started = await send('POST', `/v1/testSuite/${suiteId}/run`, body)
      const path = `/v1/testSuiteRun/${started.body.testSuiteRunId}`
      await until(async () => (await send('GET', `${path}/status`)).body.status === 'FINISHED')
      return { started, path, result: await send('GET', `${path}/result`) }
    },
    /** The first 256 KiB of what the run has written, without colours. */
    async outputOf(runId: string): Promise<string> {
      const { body } = await send('GET', `${runs}/${runId}/output?from=0`)
      return stripVTControlCharacters(body.text)
    },
    cancel: (runId: string) => send('POST', `${runs}/cancel`, { where: { runId } }),
    /** Polls until the run has one of these statuses, or until it is finished. */
    async waitFor(runId: string, ...statuses: string[]): Promise<RunObject> {
      const isThere = ({ status, finishedAt }: RunObject) =>
        statuses.length > 0 ? statuses.includes(status) : finishedAt !== undefined
      return until(
        async (): Promise<RunObject | false> => {
          const { body } = await client.get(runId)
          return isThere(body) && body
        },
        `run ${runId} is ${statuses.join(' or ') || 'finished'}`,
      )
    },
  }
  return client
}

export type StartedService = LocalService & ReturnType<typeof clientOf> & { readonly log: readonly string[] }

/** Projects and suites as in a configuration file, and options of the service. By default, the project has the puppet. */
type Given = Partial<ServiceOptions> & { readonly projects?: object; readonly suites?: object }

/** Starts a local service that is closed when the test ends. */
export async function startService({ projects, suites, ...options }: Given = {}): Promise<StartedService> {
  const log: string[] = []
  const service = await startLocalService(
    readConfiguration({ projects: projects ?? { 'web-shop': puppetProject() }, suites }, WEB_SHOP),
    {
      env: PLAIN_ENV,
      key: KEY,
      runLimitMinutes: 55,
      stopGraceMs: 400,
      endWaitMs: 0,
      dataFolder: join(temporaryFolder(), 'data'),
      log: (line) => log.push(line),
      ...options,
    },
  )
  let closed: ReturnType<LocalService['close']> | undefined
  const close = () => {
    closed ??= service.close()
    return closed
  }
  onTestFinished(async () => void (await close()))
  return { ...service, close, ...clientOf(service.url, KEY, service.projects[0]?.id), log }
}

/** Starts a process that gets this signal when the test ends, and whose end the test then waits for. */
export function startProcess(
  [program, ...args]: readonly [string, ...string[]],
  { cwd = WEB_SHOP, env = {}, endsBy = 'SIGTERM' as NodeJS.Signals } = {},
) {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  const child = spawn(program, args, { cwd, env: { ...PLAIN_ENV, ...env }, stdio })
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  // Not before what it started has closed the output too.
  const exit = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exit
  }
  onTestFinished(() => end(endsBy).then(() => undefined))
  return {
    end,
    exit,
    output: () => output,
    errors: () => errors,
    /** What a service prints with --json. */
    async ready(): Promise<{ url: string; key: string; projects: { id: string }[] }> {
      await Promise.race([until(() => output.endsWith('}\n')), exit])
      if (!output.endsWith('}\n')) throw new Error(`The service did not start: ${errors}`)
      return JSON.parse(output)
    },
  }
}

export const MAIN = [process.execPath, join(ROOT, 'local-service/src/main.ts')] as const

/** Starts the service as a process that can be killed, and is when the test ends. */
export function startServiceProcess(project: object, data: string, env: NodeJS.ProcessEnv) {
  const config = join(temporaryFolder(), 'config.json')
  writeFileSync(config, JSON.stringify({ projects: { shop: project } }))
  const args = ['--json', '--config', config, '--data', data]
  const service = startProcess([...MAIN, ...args], { env: { LOCAL_SERVICE_KEY: KEY, ...env }, endsBy: 'SIGKILL' })
  return {
    /** A client for the first project. */
    async ready() {
      const { url, key, projects } = await service.ready()
      return clientOf(url, key, projects[0]?.id)
    },
    kill: () => service.end('SIGKILL'),
  }
}

/** A project whose test runner is the puppet: each run does what the variable PUPPET in its `envOverrides` says. */
export function puppetProject(folder = WEB_SHOP) {
  const command = [process.execPath, join(import.meta.dirname, 'puppet-runner.mjs')]
  return { folder, framework: 'vitest', command } as const
}

/** A run of the folder itself, alone: without a service, a queue or a limit. */
export function runContextIn(
  folder: string,
  facts: Partial<RunContext> = {},
  settings: object = { folder },
): RunContext {
  const [project] = readConfiguration({ projects: { shop: settings } }, folder).projects.values()
  if (project === undefined) throw new Error('The folder is no project.')
  const folders = { root: project.folder, folder: project.folder }
  // Another run of the same id, in another test or another clone, would be stopped with this one.
  const runId = randomUUID()
  return {
    runId,
    project,
    checkout: { original: folders },
    tested: folders,
    selection: { frameworkProjects: [], files: [] },
    variables: {},
    serviceEnv: PLAIN_ENV,
    autofix: false,
    resources: resourcesOf(runId, join(folder, 'data')),
    stop: new AbortController().signal,
    stopGraceMs: 1000,
    output: new RunOutput(join(folder, 'outputs', runId), () => {}),
    log: () => {},
    logError: (text) => expect.unreachable(text),
    ...facts,
  }
}

/** The start request for a run whose puppet does this. */
export function puppet(actions: object): { envOverrides: { PUPPET: string } } {
  return { envOverrides: { PUPPET: JSON.stringify(actions) } }
}

/** A folder with these files. It goes with the test. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder()
  await writeFiles(folder, files)
  return folder
}

/** It has the packages of this repository too, or those of another version. */
export async function projectFolder(
  files: Readonly<Record<string, string>>,
  version?: InstalledVersion,
): Promise<string> {
  const folder = temporaryFolder()
  await installPackages(folder, version)
  await writeFiles(folder, files)
  return folder
}

export interface RunOfProject {
  readonly framework?: 'vitest' | 'playwright' | 'jest'
  readonly args?: readonly string[]
  readonly command?: string | readonly string[]
  readonly version?: InstalledVersion
  readonly request?: object | undefined
}

/** A finished run of such a project, its titles, its output and its folder. */
export async function runProject(files: Readonly<Record<string, string>>, { request, version, ...of }: RunOfProject) {
  const folder = await projectFolder(files, version)
  const service = await startService({ projects: { shop: { folder, ...of } } })
  const runId = await service.startRun(request)
  const run = await service.waitFor(runId)
  const titles = run.results?.testCases.map(({ title }) => title)
  return { ...run, titles, folder, output: await service.outputOf(runId) }
}

/** The process ids that a test wrote into a file, once it has. */
export async function pidsIn(file: string): Promise<number[]> {
  let text = ''
  await until(async () => {
    text = await readFile(file, 'utf8').catch(() => '')
    return text !== ''
  })
  return text.split(' ').map(Number)
}

/** What puppets noted in their journal, so far. */
export async function readJournal(file: string): Promise<{ event: string; pid: number }[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** The ids of the processes of which this is true. */
export function processesThat(holds: (pid: string) => boolean): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      return holds(String(pid))
    } catch {
      // The process has exited, or belongs to another user.
      return false
    }
  })
}
