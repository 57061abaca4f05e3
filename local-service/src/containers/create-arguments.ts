import { realpathSync } from 'node:fs'
import type { ContainerSettings, EngineName } from '../project.ts'
import type { Command } from '../runs/run-command.ts'
import { isInside } from '../workspace/paths.ts'
import type { ContainerEngine } from './engine.ts'

export interface RunContainer {
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

/** Its value is the id of the run. Containers without this label do not belong to the service. */
export const LABEL = 'test-run-service.run'

/**
 * The program that a container runs. It reads the run's variables from its input, so that no command line shows them. No
 * shell reads them, because each shell reserves some names for itself. The program has the exit codes of a shell. They are 126
 * and 127 if it cannot run the command. If a signal ended the command, its number is added to 128.
 */
const ENTRY_SCRIPT = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { text } from 'node:stream/consumers'
const [startedFile, program, ...args] = process.argv.slice(1)
try {
  const env = { ...process.env, ...JSON.parse(await text(process.stdin)) }
  writeFileSync(startedFile, 'started')
  const command = spawn(program, args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => command.kill(signal))
  const [code, signal] = await once(command, 'exit')
  process.exit(code ?? 128 + constants.signals[signal])
} catch (error) {
  console.error(error.message)
  process.exit(error.code === 'ENOENT' ? 127 : 126)
}`

const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY', 'ALL_PROXY']

/**
 * Keeps the machine's proxies out of the container. Podman copies them from its own environment. Docker copies each proxy of
 * its configuration that is not set here.
 */
const WITHOUT_PROXIES: Readonly<Record<EngineName, readonly string[]>> = {
  podman: ['--http-proxy=false'],
  docker: PROXY_VARIABLES.flatMap((name) => ['--env', `${name}=`, '--env', `${name.toLowerCase()}=`]),
}

/** The arguments of the engine's `create` for a command. The service's own options come before the user's. */
export function createArguments(
  container: RunContainer,
  { runId, folder, argv }: Command,
  bindOption: BindOption,
): string[] {
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
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    // Without this, SELinux hides the mounted folders.
    ...['--security-opt', 'label=disable'],
    ...WITHOUT_PROXIES[engine.name],
    ...userArguments(engine.name),
    ...mountsOf(container).flatMap((mount) => ['--mount', describeMount(mount, bindOption)]),
    ...['--entrypoint', 'node'],
    // The service reads the exit code from the container, and removes it then. So the engine must not remove it.
    ...settings.options.filter((option) => !/^--rm(=|$)/.test(option)),
    settings.image,
    ...['--input-type=module', '--eval', ENTRY_SCRIPT, startedFile, ...argv],
  ]
}

/** Files that a container creates in the mounted folders must belong to the user of the service, who removes them. */
function userArguments(engine: EngineName): string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return [...(engine === 'podman' && uid !== 0 ? ['--userns=keep-id'] : []), '--user', `${uid}:${gid}`]
}

/** How an engine calls a mount that leaves out what is mounted below it. Read-only would not apply there. */
export type BindOption = 'bind-nonrecursive=true' | 'bind-recursive=disabled'

function describeMount({ path, isReadOnly }: Mount, bindOption: BindOption): string {
  const fields = ['type=bind', `source=${path}`, `target=${path}`, bindOption, ...(isReadOnly ? ['readonly'] : [])]
  // The engines read this option as a line of CSV.
  return fields.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')
}

export function nameOf(runId: string): string {
  return `test-run-${runId}`
}

function mountsOf({ mounts, startedFile }: RunContainer): Mount[] {
  return [...mounts, { path: startedFile, isReadOnly: false }]
}

/**
 * Why a container must not be created with its mounts. Tests can put a link in the place of a folder that they can
 * write. The engine would then mount another folder.
 */
export function findUnsafeMount(container: RunContainer): string | undefined {
  const mounts = mountsOf(container)
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
