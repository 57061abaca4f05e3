import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Marks every process of a run: whatever a test starts inherits it, in any process group. */
export const MARKER_VARIABLE = 'LOCAL_SERVICE_RUN_ID'

const POLL_MS = 50
/** A killed process is gone in milliseconds; one that hangs in the kernel must not block the service. */
const KILL_LIMIT_MS = 5000

/** The processes of a run. */
export interface ProcessesOfRun {
  readonly runId: string
  /** The process group of its command; undefined if an earlier process of the service started it. */
  readonly groupId?: number | undefined
}

/** A process group of a run, with whatever else is marked as the run's. */
export interface ProcessGroup extends ProcessesOfRun {
  readonly groupId: number
}

/**
 * Stops a process group and everything else of its run: SIGINT first, on which Playwright writes its report, then
 * SIGTERM, then SIGKILL.
 */
export async function stopProcesses(group: ProcessGroup, graceMs: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    signalProcess(-group.groupId, signal)
    if (await waitUntilGone(group, graceMs / 2)) return
  }
  await killProcesses(group)
}

/** Kills until nothing is left: a process may start another one between two looks. Returns how many it killed. */
export async function killProcesses(group: ProcessesOfRun): Promise<number> {
  const deadlineMs = performance.now() + KILL_LIMIT_MS
  const killed = new Set<number>()
  while (performance.now() < deadlineMs) {
    const left = await findProcesses(group)
    if (left.length === 0) break
    for (const id of left) {
      signalProcess(id, 'SIGKILL')
      killed.add(id)
    }
    await delay(POLL_MS)
  }
  return killed.size
}

/** Whether the processes have exited by themselves in time. */
export async function waitUntilGone(group: ProcessesOfRun, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs
  while ((await findProcesses(group)).length > 0) {
    if (performance.now() >= deadlineMs) return false
    await delay(POLL_MS)
  }
  return true
}

/**
 * The living processes that belong to a run: those in its process group and, on Linux, those that carry its marker,
 * which also finds what a test runner starts in other groups (Playwright's web server and browsers).
 */
async function findProcesses({ groupId, runId }: ProcessesOfRun): Promise<number[]> {
  if (process.platform === 'linux') return findInProc(groupId, runId)
  return groupId === undefined ? [] : findByPs(groupId)
}

interface FoundProcess {
  readonly id: number
  readonly group: number
  readonly hasMarker: boolean
}

/** Synchronous on purpose: these reads touch no disk, and through the thread pool they cost six times as much. */
function findInProc(groupId: number | undefined, runId: string): number[] {
  const marker = `${MARKER_VARIABLE}=${runId}`
  const living = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name), marker))
    .filter((found) => found !== undefined)
  // A group that a marked process leads belongs to the run, with members that have cleared their environment.
  const groups = new Set([groupId, ...living.filter(({ id, group, hasMarker }) => hasMarker && id === group).map(idOf)])
  return living.filter(({ group, hasMarker }) => hasMarker || groups.has(group)).map(idOf)
}

function readProcess(id: number, marker: string): FoundProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8')
    // The command's name is in brackets and may contain anything; the state and the group follow it.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    return { id, group: Number(group), hasMarker: readEnvironment(id).includes(marker) }
  } catch {
    // It has exited meanwhile.
    return undefined
  }
}

function readEnvironment(id: number): string[] {
  try {
    return readFileSync(`/proc/${id}/environ`, 'utf8').split('\0')
  } catch {
    // It belongs to another user.
    return []
  }
}

function idOf({ id }: FoundProcess): number {
  return id
}

async function findByPs(groupId: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,pgid=,stat='])
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, group, state]) => Number(group) === groupId && !state?.startsWith('Z'))
    .map(([id]) => Number(id))
}

/** Sends a signal to a process, or to a group if the id is negative. One that has exited meanwhile needs none. */
function signalProcess(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal)
  } catch (error) {
    // EPERM: a test changed its user, or (macOS) only zombies are left of the group.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}
