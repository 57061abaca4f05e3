import { delimiter, dirname, join } from 'node:path'
import { GITHUB_VARIABLES, type GithubContext } from './contexts.ts'

export interface EnvironmentFacts {
  readonly inputs: Readonly<Record<string, string>>
  readonly state: Readonly<Record<string, string>>
  readonly stepEnv?: Readonly<Record<string, string>> | undefined
  /** What earlier processes of the job wrote to GITHUB_ENV. */
  readonly jobEnv: Readonly<Record<string, string>>
  readonly github: GithubContext
  readonly runner: Readonly<Record<string, string>>
  /** The files of the file commands, by the name of their variable without `GITHUB_`. */
  readonly files: Readonly<Record<string, string>>
  readonly proxy?: ProxySettings | undefined
}

export interface ProxySettings {
  readonly https?: string | undefined
  readonly no?: string | undefined
}

/**
 * The whole environment of a process. It takes from this machine only what node needs, so that no proxy, locale or
 * NODE_OPTIONS of the developer decides a test. If a name is in several groups, the last group wins, as in the runner.
 */
export function processEnvironment(facts: EnvironmentFacts): Record<string, string> {
  const { https, no } = facts.proxy ?? {}
  const env: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(OF_THE_MACHINE.map((name) => [name, process.env[name]])),
    PATH: dirname(process.execPath) + delimiter + process.env.PATH,
    // The runner sets proxy variables in both cases of letters.
    ...{ https_proxy: https, HTTPS_PROXY: https, no_proxy: no, NO_PROXY: no },
    CI: 'true',
    ...facts.jobEnv,
    ...facts.stepEnv,
    ...renamed(facts.state, (name) => `STATE_${name}`),
    ...renamed(facts.inputs, (name) => `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`),
    // If a variable does not apply, it is empty.
    ...Object.fromEntries(GITHUB_VARIABLES.map((name) => [`GITHUB_${name.toUpperCase()}`, facts.github[name] ?? ''])),
    ...renamed(facts.runner, (name) => `RUNNER_${name.toUpperCase()}`),
    ...renamed(facts.files, (name) => `GITHUB_${name}`),
    GITHUB_ACTIONS: 'true',
  }
  const isSet = ([, value]: [string, unknown]) => value !== undefined
  return Object.fromEntries(
    Object.entries(env)
      .filter(isSet)
      .map(([name, value]) => [name, String(value)]),
  )
}

// With a cache of compiled code, which our tests have, the processes of a job take two thirds of the time.
const OF_THE_MACHINE = ['HOME', 'USERPROFILE', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE']

function renamed(values: Readonly<Record<string, string>>, rename: (name: string) => string) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [rename(name), value]))
}

/** The `runner` context, as a GitHub-hosted machine of this platform fills it. */
export function runnerContext(tempDir: string, isDebug: boolean): Record<string, string> {
  const systems: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' }
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
