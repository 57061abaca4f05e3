import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { GITHUB_VARIABLES, type GithubContext } from './contexts.ts'
import type { ExpressionValue } from './expressions.ts'
import type { FileCommandFiles } from './file-commands.ts'

/** The folders of one job. */
export interface JobFolders {
  readonly workspace: string
  readonly tempDir: string
  readonly eventPath: string
  /** Removes what was made here; folders that were given stay. */
  remove(): void
}

export function makeJobFolders(
  given: { readonly workspace?: string | undefined; readonly tempDir?: string | undefined },
  payload: unknown,
): JobFolders {
  // The real path, as a process sees it in its current folder.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'runner-')))
  const workspace = given.workspace ?? join(root, 'work')
  const tempDir = given.tempDir ?? join(root, 'temp')
  const eventPath = join(root, 'event.json')
  for (const folder of [workspace, tempDir]) mkdirSync(folder, { recursive: true })
  writeFileSync(eventPath, JSON.stringify(payload ?? {}))
  return { workspace, tempDir, eventPath, remove: () => rmSync(root, { recursive: true, force: true }) }
}

export interface EnvironmentFacts {
  readonly inputs: ReadonlyMap<string, string>
  readonly state: Readonly<Record<string, string>>
  /** The step's `env`. */
  readonly stepEnv: Readonly<Record<string, string>>
  /** What earlier processes of the job wrote to GITHUB_ENV. */
  readonly jobEnv: ReadonlyMap<string, string>
  readonly github: GithubContext
  readonly runner: Readonly<Record<string, string>>
  readonly files: FileCommandFiles
  /** On the machine alone: not in a container. */
  readonly trackingId: string | undefined
  readonly proxy: ProxySettings
}

export interface ProxySettings {
  readonly http?: string | undefined
  readonly https?: string | undefined
  readonly no?: string | undefined
}

/**
 * The whole environment of a process. Of this machine's own it has the little that node needs, so that no proxy,
 * locale or NODE_OPTIONS of the developer decides a test. Later groups win, as with the runner.
 */
export function processEnvironment(facts: EnvironmentFacts): Record<string, string> {
  const env: Record<string, string> = {
    ...machineEnvironment(),
    ...proxyEnvironment(facts.proxy),
    CI: 'true',
    ...Object.fromEntries(facts.jobEnv),
    ...facts.stepEnv,
  }
  for (const [name, value] of Object.entries(facts.state)) env[`STATE_${name}`] = value
  for (const [name, value] of facts.inputs) env[inputVariable(name)] = value
  for (const name of GITHUB_VARIABLES) env[`GITHUB_${name.toUpperCase()}`] = textOf(facts.github[name])
  for (const [name, value] of Object.entries(facts.runner)) env[`RUNNER_${name.toUpperCase()}`] = value
  for (const [name, path] of Object.entries(facts.files.paths)) env[`GITHUB_${name}`] = path
  env.GITHUB_ACTIONS = 'true'
  env.GITHUB_ARTIFACTS = join(facts.runner.temp ?? '', 'artifacts')
  env.GITHUB_ARTIFACTS_LIST = join(facts.runner.temp ?? '', 'artifacts.json')
  env.ACTIONS_RUNTIME_URL = 'https://pipelines.actions.example/'
  env.ACTIONS_RUNTIME_TOKEN = RUNTIME_TOKEN
  if (facts.trackingId !== undefined) env.RUNNER_TRACKING_ID = facts.trackingId
  // The operating system takes a NUL for the end: it cuts a value, and a variable whose name has one is none.
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (name.includes('\0') ? [] : [[name, value.replace(/\0.*/s, '')]])),
  )
}

/** The job's own token, which is masked. */
export const RUNTIME_TOKEN = 'eyJhbGciOiJub25lIn0.eyJzY3AiOiJBY3Rpb25zLlJlc3VsdHMifQ.'

/** `run id` becomes INPUT_RUN_ID, but `run-id` becomes INPUT_RUN-ID. */
export function inputVariable(name: string): string {
  return `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`
}

/** Every variable of GitHub is there, and empty if it does not apply. */
function textOf(value: ExpressionValue | undefined): string {
  return value === null || value === undefined ? '' : String(value)
}

function machineEnvironment(): Record<string, string> {
  const needed = ['HOME', 'USERPROFILE', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LANG']
  const env: Record<string, string> = { PATH: dirname(process.execPath) + delimiter + (process.env.PATH ?? '') }
  for (const name of needed) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  return env
}

/** The runner sets proxy variables in both cases of letters. */
function proxyEnvironment({ http, https, no }: ProxySettings): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries({ http_proxy: http, https_proxy: https, no_proxy: no })) {
    if (value === undefined) continue
    env[name] = value
    env[name.toUpperCase()] = value
  }
  return env
}

/** The `runner` context, as a GitHub-hosted machine of this platform fills it. */
export function runnerContext(tempDir: string, isDebug: boolean): Record<string, string> {
  const systems: Readonly<Record<string, string>> = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' }
  return {
    os: systems[process.platform] ?? 'Linux',
    arch: process.arch.toUpperCase(),
    name: 'GitHub Actions 1',
    environment: 'github-hosted',
    temp: tempDir,
    tool_cache: join(tempDir, '_tool'),
    workspace: dirname(tempDir),
    ...(isDebug && { debug: '1' }),
  }
}
