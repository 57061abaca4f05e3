import { statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { killProcesses, waitUntilGone } from '../runs/processes.ts'
import { type Command, type CommandEnd, runCommand } from '../runs/run-command.ts'
import {
  type BindOption,
  createArguments,
  findUnsafeMount,
  LABEL,
  nameOf,
  type RunContainer,
} from './create-arguments.ts'
import { type ContainerEngine, callEngine, RESPONSE_LIMIT_MS } from './engine.ts'

const POLL_MS = 100
const REMOVAL_LIMIT_MS = 60_000

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
  const refusal = findUnsafeMount(container)
  if (refusal !== undefined) return { kind: 'not-started', reason: refusal, output: '' }
  const createArgs = createArguments(container, command, await findBindOption(engine))
  const create = (args: readonly string[]) =>
    runCommand(
      {
        ...engineCommand(container, command, ['create', ...args, ...createArgs]),
        output: undefined,
        // If the client were killed, the engine could create the container afterwards.
        stopProcesses: async (group) => void (await waitUntilGone(group, engine.responseLimitMs ?? RESPONSE_LIMIT_MS)),
      },
      stop,
    )
  let end = await create(['--init'])
  // For `--init`, Podman needs a further program, which a minimal installation does not have.
  if (end.kind === 'exited' && end.code !== 0 && end.output.includes('container-init')) end = await create([])
  // If it succeeds, the engine writes only the container's id.
  if (end.kind !== 'exited' || end.code !== 0) command.output?.write(end.output)
  return whenSuccessful(end, `${engine.name} could not create a container of ${settings.image}`)
}

/** Docker's client has the newer name since version 25, and refuses the other name since version 29. */
async function findBindOption(engine: ContainerEngine): Promise<BindOption> {
  if (engine.name === 'podman') return 'bind-nonrecursive=true'
  const version = await callEngine(engine, ['--version'])
  const [major] = (version.kind === 'ok' && /\d+/.exec(version.output)) || []
  return Number(major) < 25 ? 'bind-nonrecursive=true' : 'bind-recursive=disabled'
}

async function startContainer(container: RunContainer, command: Command, stop: AbortSignal): Promise<CommandEnd> {
  const { engine } = container
  const { runId, stopGraceMs } = command
  const name = nameOf(runId)
  const client: Command = {
    ...engineCommand(container, command, ['start', '--attach', '--interactive', name]),
    input: JSON.stringify(command.env),
    // The tests run in the container, not in the engine's client. The client is left alone until the container has stopped.
    stopProcesses: async (group) => {
      const graceSeconds = Math.max(1, Math.ceil(stopGraceMs / 1000))
      const stopped = await callEngine(engine, ['stop', '-t', String(graceSeconds), name], graceSeconds * 1000)
      if (stopped.kind === 'failed' && !stopped.isSilent) await callEngine(engine, ['kill', name])
      await killProcesses(group)
    },
  }
  const end = await runCommand(client, stop)
  return end.kind === 'exited' ? readEnd(container, command, end.output) : end
}

/** Whether the container runs, its exit code, and when it was started. If it was not started, this is in the year 1. */
const STATE = '{{.State.Running}} {{.State.ExitCode}} {{.State.StartedAt}}'

/** How the container ended. The exit code of the engine's client may be its own, so the container is inspected. */
async function readEnd(container: RunContainer, { runId, argv }: Command, output: string): Promise<CommandEnd> {
  const { engine, settings, startedFile } = container
  const state = await callEngine(engine, ['inspect', '--format', STATE, nameOf(runId)])
  if (state.kind === 'failed') return { kind: 'lost', reason: `${engine.name} ${state.reason}`, output }
  const [isRunning, code = '', startedAt] = state.output.trim().split(' ')
  if (startedAt?.startsWith('0001-')) {
    const reason = `${engine.name} could not start a container of ${settings.image}`
    return { kind: 'not-started', reason, output }
  }
  if (isRunning === 'true') return { kind: 'lost', reason: `${engine.name} ended while its container ran`, output }
  // If there is no Node, Podman's init exits with 1. Tests that fail exit with 1 too.
  if (statSync(startedFile).size === 0) {
    return { kind: 'not-started', reason: `the image ${settings.image} cannot run node`, output }
  }
  // Some commands, such as npm, exit with 126 or 127 too, because they use a shell.
  const exitCode = Number(code)
  if (exitCode === 126 || exitCode === 127) {
    const reason = `the image ${settings.image} cannot run ${argv[0]}, or ${argv[0]} could not run a program`
    return { kind: 'unrunnable', code: exitCode, reason, output }
  }
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128) ?? []
  return signal === undefined ? { kind: 'exited', code: exitCode, output } : { kind: 'killed', signal, output }
}

function engineCommand({ engine, folder }: RunContainer, command: Command, args: readonly string[]): Command {
  return { ...command, argv: [engine.name, ...args], env: engine.env, folder }
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
