import { execFile } from 'node:child_process'
import { realpathSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { ContainerSettings, EngineName } from '../project.ts'
import { killProcesses, waitUntilGone } from '../runs/processes.ts'
import { type Command, type CommandEnd, runCommand } from '../runs/run-command.ts'
import { isInside } from '../workspace/paths.ts'

/** A command-line program that runs containers, and the environment in which it is called. */
export interface ContainerEngine {
  readonly name: EngineName
  readonly env: NodeJS.ProcessEnv
  /** How long the engine may take to respond. */
  readonly responseLimitMs?: number | undefined
}

interface RunContainer {
  readonly engine: ContainerEngine
  readonly settings: ContainerSettings
  /**
   * The engine's program runs here, so relative paths in the options start here. Tests must not be able to put a link
   * here.
   */
  readonly folder: string
  /** A container writes to this file before its command begins. No container can remove or replace the file. */
  readonly startedFile: string
  /** What a container has at its path on this machine. */
  readonly mounts: readonly Mount[]
}

/** A folder or a file of this machine, by its real path. */
export interface Mount {
  readonly path: string
  readonly isReadOnly: boolean
}

type EngineResult =
  | { readonly kind: 'ok'; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly isSilent: boolean }

/** Its value is the id of the run. Containers without this label do not belong to the service. */
const LABEL = 'test-run-service.run'
const ENGINES: readonly EngineName[] = ['docker', 'podman']
const POLL_MS = 100
const REMOVAL_LIMIT_MS = 60_000
const RESPONSE_LIMIT_MS = 20_000

/**
 * Writes to the file that says that the shell runs. Reads the environment from its input, so that nobody else on the
 * machine sees it. Then it becomes the command.
 */
const ENTRY_SCRIPT = 'echo started >"$1"; shift; eval "$(cat)" && exec "$@" </dev/null'

type FoundEngine =
  | { readonly kind: 'found'; readonly engine: ContainerEngine; readonly reason: string }
  | { readonly kind: 'none'; readonly reason: string }

/** The wanted engine, or the first engine that works. The reason says why earlier engines do not work. */
export async function findEngine(
  wanted: EngineName | undefined,
  options: Omit<ContainerEngine, 'name'>,
): Promise<FoundEngine> {
  const reasons: string[] = []
  for (const name of wanted === undefined ? ENGINES : [wanted]) {
    const engine = { ...options, name }
    // This fails if the daemon or the storage does not work.
    const result = await callEngine(engine, ['ps', '--quiet'])
    if (result.kind === 'ok') return { kind: 'found', engine, reason: reasons.join('; ') }
    reasons.push(`${name}: ${result.reason}`)
  }
  return { kind: 'none', reason: reasons.join('; ') }
}

/**
 * Runs a command in a new container. When this resolves, the engine has said that the container is removed, or the result is
 * `lost`.
 */
export async function runInContainer(
  container: RunContainer,
  command: Command,
  stop: AbortSignal,
): Promise<CommandEnd> {
  const pulled = await pullImage(container, command, stop)
  if (pulled.kind !== 'exited') return pulled
  const created = await createContainer(container, command, stop)
  const end = created.kind === 'exited' ? await startContainer(container, command, stop) : created
  try {
    await removeContainers(container.engine, command.runId)
    return end
  } catch (error) {
    return { kind: 'lost', reason: (error as Error).message, output: end.output }
  }
}

/** The pull is a command of its own, because it can take minutes and is stopped at once. */
async function pullImage(container: RunContainer, command: Command, stop: AbortSignal): Promise<CommandEnd> {
  const { engine, settings } = container
  const known = await callEngine(engine, ['image', 'inspect', '--format', '{{.Id}}', settings.image])
  if (known.kind === 'ok') return { kind: 'exited', code: 0, output: '' }
  if (known.isSilent) return { kind: 'not-started', reason: `${engine.name} ${known.reason}`, output: '' }
  const end = await runCommand(engineCommand(container, command, ['pull', settings.image]), stop)
  return whenSuccessful(end, `the container image ${settings.image} is not on this machine and cannot be pulled`)
}

/** Creates the container without starting it. So a stop finds every container, also a container that has not begun. */
async function createContainer(container: RunContainer, command: Command, stop: AbortSignal): Promise<CommandEnd> {
  const { engine, settings } = container
  writeFileSync(container.startedFile, '')
  const refusal = findUnsafeMount(mountsOf(container))
  if (refusal !== undefined) return { kind: 'not-started', reason: refusal, output: '' }
  const create = (args: readonly string[]) =>
    runCommand(
      {
        ...engineCommand(container, command, ['create', ...args, ...containerArguments(container, command)]),
        // If the client were killed, the engine could create the container afterwards.
        stopProcesses: async (group) => void (await waitUntilGone(group, engine.responseLimitMs ?? RESPONSE_LIMIT_MS)),
      },
      stop,
    )
  let end = await create(['--init'])
  // For `--init`, Podman needs a further program, which a minimal installation does not have.
  if (end.kind === 'exited' && end.code !== 0 && end.output.includes('container-init')) end = await create([])
  return whenSuccessful(end, `${engine.name} could not create a container of ${settings.image}`)
}

async function startContainer(container: RunContainer, command: Command, stop: AbortSignal): Promise<CommandEnd> {
  const { engine, settings, startedFile } = container
  const { runId, stopGraceMs, argv } = command
  const name = nameOf(runId)
  const client: Command = {
    ...engineCommand(container, command, ['start', '--attach', '--interactive', name]),
    input: exportStatements(command.env),
    // The tests run in the container, not in the engine's client. The client is left alone until the container has stopped.
    stopProcesses: async (group) => {
      const graceSeconds = Math.max(1, Math.ceil(stopGraceMs / 1000))
      const stopped = await callEngine(engine, ['stop', '-t', String(graceSeconds), name], graceSeconds * 1000)
      if (stopped.kind === 'failed' && !stopped.isSilent) await callEngine(engine, ['kill', name])
      await killProcesses(group)
    },
  }
  const end = await runCommand(client, stop)
  if (end.kind !== 'exited') return end
  const { output } = end
  // The client's exit code may be its own, so the container is inspected.
  const state = await callEngine(engine, ['inspect', '--format', STATE, name])
  if (state.kind === 'failed') return { kind: 'lost', reason: `${engine.name} ${state.reason}`, output }
  const [isRunning, code = '', startedAt] = state.output.trim().split(' ')
  if (startedAt?.startsWith('0001-')) {
    const reason = `${engine.name} could not start a container of ${settings.image}`
    return { kind: 'not-started', reason, output }
  }
  if (isRunning === 'true') return { kind: 'lost', reason: `${engine.name} ended while its container ran`, output }
  // If there is no shell, Podman's init exits with 1. Tests that fail exit with 1 too.
  if (statSync(startedFile).size === 0) {
    return { kind: 'not-started', reason: `the image ${settings.image} cannot run sh`, output }
  }
  // A shell exits with 126 or 127 if it cannot run the command, and with 128 or more if a signal ended the command. Some
  // commands, such as npm, exit with 126 or 127 too, because they use a shell themselves.
  const exitCode = Number(code)
  if (exitCode === 126 || exitCode === 127) {
    const reason = `the image ${settings.image} cannot run ${argv[0]}, or ${argv[0]} could not run a program`
    return { kind: 'unrunnable', code: exitCode, reason, output }
  }
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128) ?? []
  return signal === undefined ? { kind: 'exited', code: exitCode, output } : { kind: 'killed', signal, output }
}

/** Whether the container runs, its exit code, and when it was started. If it was not started, this is in the year 1. */
const STATE = '{{.State.Running}} {{.State.ExitCode}} {{.State.StartedAt}}'

function engineCommand({ engine, folder }: RunContainer, command: Command, args: readonly string[]): Command {
  return { ...command, argv: [engine.name, ...args], env: engine.env, folder }
}

function mountsOf({ mounts, startedFile }: RunContainer): Mount[] {
  return [...mounts, { path: startedFile, isReadOnly: false }]
}

/**
 * Why a container must not be created with these mounts. Tests can put a link in the place of a folder that they can
 * write. The engine would then mount another folder.
 */
function findUnsafeMount(mounts: readonly Mount[]): string | undefined {
  for (const { path } of mounts) {
    if (realPathOf(path) !== path) return `${path} cannot be mounted, because it is a link or was removed`
    const around = mounts.find((other) => !other.isReadOnly && other.path !== path && isInside(path, other.path))
    if (around !== undefined) return `${path} cannot be mounted, because the tests can write to ${around.path}`
  }
  return undefined
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function whenSuccessful(end: CommandEnd, failure: string): CommandEnd {
  if (end.kind !== 'exited' || end.code === 0) return end
  return { kind: 'not-started', reason: failure, output: end.output }
}

/**
 * Removes the containers of a run, and waits until they are gone. This or an earlier process of the service may have
 * created them. Returns how many there were.
 */
export async function removeContainers(engine: ContainerEngine, runId: string): Promise<number> {
  const found = new Set<string>()
  const deadlineMs = performance.now() + REMOVAL_LIMIT_MS
  for (;;) {
    const listed = await callEngine(engine, ['ps', '--all', '--quiet', '--filter', `label=${LABEL}=${runId}`])
    if (listed.kind === 'failed') throw new Error(describeLeft(engine, listed.reason))
    const ids = listed.output.split('\n').filter((id) => id !== '')
    if (ids.length === 0) return found.size
    for (const id of ids) found.add(id)
    // Podman's `rm --force` would wait for ten seconds.
    await callEngine(engine, ['kill', ...ids])
    const removed = await callEngine(engine, ['rm', '--force', '--volumes', ...ids])
    if (performance.now() > deadlineMs) {
      throw new Error(describeLeft(engine, removed.kind === 'failed' ? removed.reason : `${ids} cannot be removed`))
    }
    await delay(POLL_MS)
  }
}

function describeLeft({ name }: ContainerEngine, reason: string): string {
  return `${name}: ${reason}; a container of the run may still be there, and the next start of the service looks for it`
}

/** The variables that a container cannot get, because a shell cannot export their names. */
export function unexportableNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).filter((name) => !isShellName(name))
}

function containerArguments(container: RunContainer, { runId, folder, argv }: Command): string[] {
  const { engine, settings, startedFile } = container
  return [
    '--interactive',
    // Docker would keep a copy of all output.
    ...['--log-driver', 'none'],
    ...['--name', nameOf(runId)],
    ...['--label', `${LABEL}=${runId}`],
    // Playwright writes its report on SIGINT.
    ...['--stop-signal', 'SIGINT'],
    ...['--workdir', folder],
    // Without this, SELinux hides the mounted folders.
    ...['--security-opt', 'label=disable'],
    ...userArguments(engine.name),
    ...mountsOf(container).flatMap((mount) => ['--mount', describeMount(mount)]),
    ...['--entrypoint', 'sh'],
    // The service reads the exit code from the container, and removes it then. So the engine must not remove it.
    ...settings.options.filter((option) => !/^--rm(=|$)/.test(option)),
    settings.image,
    ...['-c', ENTRY_SCRIPT, 'sh', startedFile, ...argv],
  ]
}

/** Files that a container creates in the mounted folders must belong to the user of the service, who removes them. */
function userArguments(engine: EngineName): string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return [...(engine === 'podman' && uid !== 0 ? ['--userns=keep-id'] : []), '--user', `${uid}:${gid}`]
}

function describeMount({ path, isReadOnly }: Mount): string {
  const fields = ['type=bind', `source=${path}`, `target=${path}`, ...(isReadOnly ? ['readonly'] : [])]
  // The engines read this option as a line of CSV.
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

function callEngine(
  { name, env, responseLimitMs = RESPONSE_LIMIT_MS }: ContainerEngine,
  args: readonly string[],
  workMs = 0,
): Promise<EngineResult> {
  return new Promise((resolve) => {
    const timeout = workMs + responseLimitMs
    execFile(name, args, { env, timeout, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error === null) return resolve({ kind: 'ok', output: stdout })
      const isSilent = error.killed === true
      // The reason becomes part of a sentence, so the punctuation at its end is removed.
      const words = (stderr.trim().split('\n').at(-1) || error.message).replace(/[.?!]+$/, '')
      const reason = isSilent ? `did not respond within ${timeout / 1000} s` : words
      resolve({ kind: 'failed', reason, isSilent })
    })
  })
}
