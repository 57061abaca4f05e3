import { execFile } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { killProcesses } from './processes.ts'
import type { ContainerSettings, EngineName } from './project.ts'
import { type Command, type CommandEnd, runCommand } from './run-command.ts'

/** A command-line program that runs containers, and the environment in which it is called. */
export interface ContainerEngine {
  readonly name: EngineName
  readonly env: NodeJS.ProcessEnv
}

/** How the containers of a run are made. */
export interface RunContainer {
  readonly engine: ContainerEngine
  readonly settings: ContainerSettings
  /** Folders that a container has at the same path as this machine. */
  readonly mounts: readonly Mount[]
}

export interface Mount {
  readonly folder: string
  readonly isReadOnly: boolean
}

type EngineResult =
  | { readonly kind: 'ok'; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** Its value is the id of the run. Containers without it are not ours. */
const LABEL = 'test-run-service.run'
const ENGINES: readonly EngineName[] = ['docker', 'podman']
const POLL_MS = 100
const REMOVAL_LIMIT_MS = 60_000

/** Reads the environment from its input, where nobody else on the machine sees it, and becomes the command. */
const ENTRY_SCRIPT = 'eval "$(cat)" && exec "$@" </dev/null'

/** The wanted engine, or the first that works; otherwise the reason why none does. */
export async function findEngine(
  wanted: EngineName | undefined,
  env: NodeJS.ProcessEnv,
): Promise<{ kind: 'found'; engine: ContainerEngine } | { kind: 'none'; reason: string }> {
  const reasons: string[] = []
  for (const name of wanted === undefined ? ENGINES : [wanted]) {
    const engine = { name, env }
    // Needs the daemon or the storage, as running a container does.
    const result = await callEngine(engine, ['ps', '--quiet'])
    if (result.kind === 'ok') return { kind: 'found', engine }
    reasons.push(`${name}: ${result.reason}`)
  }
  return { kind: 'none', reason: reasons.join('; ') }
}

/**
 * Runs a command in a new container. When this resolves, the engine says that the container is gone, whether it was
 * stopped or exited by itself.
 */
export async function runInContainer(
  container: RunContainer,
  command: Command,
  stop: AbortSignal,
): Promise<CommandEnd> {
  const { engine } = container
  const { runId, stopGraceMs } = command
  const client: Command = {
    ...command,
    argv: [engine.name, ...runArguments(container, command)],
    env: engine.env,
    input: exportStatements(command.env),
    // The engine's client is not the tests: it is left alone until the container has stopped.
    stopProcesses: async (group) => {
      const graceSeconds = Math.max(1, Math.ceil(stopGraceMs / 1000))
      const stopped = await callEngine(engine, ['stop', '-t', String(graceSeconds), nameOf(runId)])
      if (stopped.kind === 'failed') await callEngine(engine, ['kill', nameOf(runId)])
      await killProcesses(group)
    },
  }
  const end = await runCommand(client, stop)
  await removeContainers(engine, runId)
  return end.kind === 'exited' ? endInContainer(end) : end
}

/**
 * Removes the containers of a run, by this process of the service or an earlier one, and waits until they are gone. Returns
 * how many there were.
 */
export async function removeContainers(engine: ContainerEngine, runId: string): Promise<number> {
  const found = new Set<string>()
  const deadlineMs = performance.now() + REMOVAL_LIMIT_MS
  for (;;) {
    const listed = await callEngine(engine, ['ps', '--all', '--quiet', '--filter', `label=${LABEL}=${runId}`])
    if (listed.kind === 'failed') throw new Error(`${engine.name} cannot list containers: ${listed.reason}`)
    const ids = listed.output.split('\n').filter((id) => id !== '')
    if (ids.length === 0) return found.size
    for (const id of ids) found.add(id)
    // Podman's `rm --force` would wait for ten seconds.
    await callEngine(engine, ['kill', ...ids])
    const removed = await callEngine(engine, ['rm', '--force', '--volumes', ...ids])
    if (performance.now() > deadlineMs) {
      throw new Error(`${engine.name} cannot remove a container: ${removed.kind === 'failed' ? removed.reason : ids}`)
    }
    await delay(POLL_MS)
  }
}

/** The variables that a container cannot get, because a shell cannot export their names. */
export function unexportableNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).filter((name) => !isShellName(name))
}

function runArguments({ engine, settings, mounts }: RunContainer, { runId, folder, argv }: Command): string[] {
  return [
    'run',
    '--interactive',
    ...['--name', nameOf(runId)],
    ...['--label', `${LABEL}=${runId}`],
    // Playwright writes its report on SIGINT.
    ...['--stop-signal', 'SIGINT'],
    ...['--workdir', folder],
    // Otherwise SELinux hides the mounted folders.
    ...['--security-opt', 'label=disable'],
    ...userArguments(engine.name),
    ...mounts.flatMap((mount) => ['--mount', describeMount(mount)]),
    ...['--entrypoint', 'sh'],
    ...settings.options,
    settings.image,
    ...['-c', ENTRY_SCRIPT, 'sh', ...argv],
  ]
}

/** Files that a container creates in the mounted folders belong to the user of the service, who has to remove them. */
function userArguments(engine: EngineName): string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return [...(engine === 'podman' && uid !== 0 ? ['--userns=keep-id'] : []), '--user', `${uid}:${gid}`]
}

function describeMount({ folder, isReadOnly }: Mount): string {
  const fields = ['type=bind', `source=${folder}`, `target=${folder}`, ...(isReadOnly ? ['readonly'] : [])]
  // The engines read it as a line of CSV.
  return fields.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')
}

function nameOf(runId: string): string {
  return `test-run-${runId}`
}

function exportStatements(env: NodeJS.ProcessEnv): string {
  return Object.entries(env)
    .filter(([name, value]) => isShellName(name) && value !== undefined)
    .map(([name, value = '']) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`)
    .join('')
}

function isShellName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name)
}

/** The engines' exit codes: their own failure is 125, and a signal is counted from 128. */
function endInContainer(end: CommandEnd & { kind: 'exited' }): CommandEnd {
  const { code, lastOutput } = end
  if (code === 125) return { kind: 'not-started', reason: 'the container engine failed', lastOutput }
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === code - 128) ?? []
  return signal === undefined ? end : { kind: 'killed', signal, lastOutput }
}

function callEngine({ name, env }: ContainerEngine, args: readonly string[]): Promise<EngineResult> {
  return new Promise((resolve) => {
    execFile(name, args, { env }, (error, stdout, stderr) => {
      if (error === null) resolve({ kind: 'ok', output: stdout })
      else resolve({ kind: 'failed', reason: stderr.trim().split('\n').at(-1) || error.message })
    })
  })
}
