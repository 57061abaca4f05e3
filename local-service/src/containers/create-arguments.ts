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
 * Writes to the file that says that the shell runs. Reads the environment from its input, so that nobody else on the
 * machine sees it. Then it becomes the command.
 */
const ENTRY_SCRIPT = 'echo started >"$1"; shift; eval "$(cat)" && exec "$@" </dev/null'

/** The arguments of the engine's `create` for a command. The service's own options come before the user's. */
export function createArguments(container: RunContainer, { runId, folder, argv }: Command): string[] {
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
