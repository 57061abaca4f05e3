import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type Command, type CommandEnd, runCommand } from './command.ts'
import { callProgram, ProgramError } from './program.ts'

/** Its value is the id of the run. Containers without this label do not belong to the service. */
const LABEL = 'test-run-service.run'
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']
/**
 * There are two ways to give a container a variable:
 * 1. `--env NAME`: the engine takes the value from its own environment, where no other user can read it.
 * 2. `--env NAME=VALUE`: the engine's own environment stays as it is, but every user can read the arguments of a process.
 *
 * The second way is for these variables, because the engine's program reads them itself, and the value of the tests would change what it does. There
 * is no pattern such as `DOCKER_*`, which would show the value of `DOCKER_PASSWORD`. `DOCKER_AUTH_CONFIG` is a secret, so it goes the first way.
 */
const READ_BY_ENGINE = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'LD_PRELOAD', 'DYLD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES'],
  ...['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['SSH_AUTH_SOCK', 'SSH_ASKPASS', 'SSL_CERT_DIR', 'SSL_CERT_FILE'],
  ...PROXIES.flatMap((name) => [name, name.toLowerCase()]),
  // https://docs.docker.com/reference/cli/docker/#environment-variables
  ...['DOCKER_API_VERSION', 'DOCKER_CERT_PATH', 'DOCKER_CONFIG', 'DOCKER_CONTENT_TRUST', 'DOCKER_CONTENT_TRUST_SERVER'],
  ...['DOCKER_CONTEXT', 'DOCKER_DEFAULT_PLATFORM', 'DOCKER_HOST', 'DOCKER_TLS', 'DOCKER_TLS_VERIFY'],
  // https://docs.podman.io/en/latest/markdown/podman.1.html
  ...['CONTAINER_CONNECTION', 'CONTAINER_HOST', 'CONTAINER_SSHKEY', 'CONTAINERS_CONF', 'CONTAINERS_CONF_OVERRIDE'],
  ...['CONTAINERS_REGISTRIES_CONF', 'CONTAINERS_STORAGE_CONF', 'REGISTRY_AUTH_FILE', 'STORAGE_DRIVER', 'STORAGE_OPTS'],
])
/**
 * The exit code of `docker run` if Docker fails: https://docs.docker.com/engine/containers/run/#exit-status. The command in the container may
 * exit with it too. Nothing simple tells both apart, because Docker can also fail after it has created the container.
 */
const ENGINE_FAILED = 125
const RESPONSE_LIMIT_MS = 20_000
const REMOVAL_TRIES = 20

interface Container {
  readonly image: string
  readonly engine: readonly string[]
  readonly options: readonly string[]
  /** The environment of the engine's program. The command of the container has an environment of its own. */
  readonly env: NodeJS.ProcessEnv
  /** The engine's program runs here, so relative paths in the options start here. */
  readonly engineFolder: string
  /** The container has these folders of the machine at the same paths. */
  readonly mounts: readonly string[]
  readonly readOnlyMounts: readonly string[]
}

/** If Docker's program is killed, the container stays. So the guard or `removeContainers` removes it. */
export async function runInContainer(
  { image, engine, options, env, engineFolder, mounts, readOnlyMounts }: Container,
  command: Command,
  stop: AbortSignal,
): Promise<CommandEnd> {
  const containerName = `test-run-${crypto.randomUUID()}`
  // Another program may start the engine, as in `nice podman`.
  const isPodman = engine.some((part) => basename(part) === 'podman')
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const variables = Object.entries(command.env)
  const argv = [
    ...[...engine, 'run', '--rm', '--init', '--name', containerName, '--label', `${LABEL}=${command.runId}`],
    // With this, Podman too removes a running container at once.
    ...['--stop-timeout', '0'],
    // Files that a container creates must belong to the user of the service. Without root, Podman maps users to others.
    ...['--user', `${uid}:${gid}`, ...(isPodman && uid !== 0 ? ['--userns=keep-id'] : [])],
    // Podman would pass on the proxy variables of the machine, which may contain passwords.
    ...(isPodman ? ['--http-proxy=false'] : []),
    ...mounts.flatMap((path) => ['--mount', bindMount(path)]),
    ...readOnlyMounts.flatMap((path) => ['--mount', `${bindMount(path)},readonly`]),
    ...['--workdir', command.folder],
    ...variables.flatMap(([name, value]) => ['--env', READ_BY_ENGINE.has(name) ? `${name}=${value}` : name]),
    ...options,
    image,
    ...command.argv,
  ]
  const passed = Object.fromEntries(variables.filter(([name]) => !READ_BY_ENGINE.has(name)))
  const whenServiceDies = { argv: [...engine, 'rm', '--force', '--volumes', containerName], env }
  const end = await runCommand(
    { ...command, argv, folder: engineFolder, env: { ...env, ...passed }, whenServiceDies },
    stop,
  )
  if (end.kind !== 'exited' || end.code !== ENGINE_FAILED) return end
  // Docker's errors begin with `docker: `, and Podman's with `Error: `.
  const [said] = /^(?:docker|Error): .*/m.exec(end.output) ?? []
  const why = `either ${engine[0]} could not start a container of ${image}, or the command itself exited with this code`
  const how = `exited with code ${ENGINE_FAILED}, so ${why}${said === undefined ? '' : `: ${said}`}`
  return { kind: 'cut-off', how, output: end.output }
}

/** The engine reads the option as a line of CSV. */
function bindMount(path: string): string {
  const fields = [`source=${path}`, `target=${path}`].map((field) => `"${field.replaceAll('"', '""')}"`)
  return ['type=bind', ...fields].join(',')
}

/**
 * An array is the command from the project's settings, which this process has used. A name is what the store kept of an earlier process:
 * `none` for a run without containers, and `unknown` if the engine was neither `docker` nor `podman`.
 */
export type Engine = readonly string[] | KeptEngine
export type KeptEngine = 'none' | 'docker' | 'podman' | 'unknown'

/** This or an earlier process of the service may have left the containers. */
export async function removeContainers(engine: Engine, runId: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (engine === 'none') return
  if (engine === 'unknown') {
    const next = `Look for it with the engine of the project: ps --all --filter label=${LABEL}=${runId}`
    throw new Error(
      `a container may be left, because the service that started the run remembered its engine only if it was docker or podman, without a path. ${next}`,
    )
  }
  const isOfThisProcess = typeof engine !== 'string'
  const command = isOfThisProcess ? engine : [engine]
  const call = async (...args: string[]) => {
    try {
      return await callProgram([...command, ...args], { folder: '/', env, limitMs: RESPONSE_LIMIT_MS })
    } catch (error) {
      // If the program is missing, this process has started no container with it. An earlier process may have had another PATH.
      if (error instanceof ProgramError && error.isMissing && isOfThisProcess) return ''
      throw new Error(`a container may be left, because "${command[0]} ${args[0]}" failed: ${messageOf(error)}`)
    }
  }
  for (let removals = 0; removals < REMOVAL_TRIES; removals++) {
    const listed = await call('ps', '--all', '--quiet', '--filter', `label=${LABEL}=${runId}`)
    const ids = listed.split('\n').filter((id) => id !== '')
    if (ids.length === 0) return
    // The engine may be removing the container itself. This call then fails, and the list decides.
    await call('rm', '--force', '--volumes', ...ids).catch(() => undefined)
    await delay(100)
  }
  throw new Error(`a container may be left, because "${command[0]} ps" still lists it after ${REMOVAL_TRIES} removals`)
}
