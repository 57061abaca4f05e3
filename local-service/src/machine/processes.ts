import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a signal that asks this process to stop. From the call on, no signal ends the process by itself. */
export function waitForStopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  return promise
}

/** Marks every process of a run. Whatever a test starts inherits the variable, in any process group. */
export const MARKER_VARIABLE = 'LOCAL_SERVICE_RUN_ID'

/** The first pauses are shorter, because most processes end at once. */
const LONGEST_PAUSE_MS = 20
/** A killed process ends in milliseconds. If a process hangs in the kernel, it must not block the service. */
const KILL_LIMIT_MS = 5000

/** A process group of a run, with every other process that is marked as the run's. */
export interface ProcessGroup {
  readonly runId: string
  readonly groupId: number
}

/** Lets the processes end by themselves. SIGINT comes first, because Playwright then writes its report. */
export async function stopProcesses(group: ProcessGroup, graceMs: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    signalProcess(-group.groupId, signal)
    if ((await waitUntilGone(group, graceMs / 2)).length === 0) return
  }
}

/**
 * The script of the guard, which `startGuard` describes. `watch` writes the first line. If the service dies before that, `$group` is empty and
 * `kill` does nothing. Then the recovery finds the processes by their marker.
 */
const GUARD = `read -r group
# No second line comes. So this read ends when the service has died.
read -r end
kill -s KILL -- "-$group"
"$@"`

/**
 * Starts a guard. If the service dies before it ends the guard, the guard kills the process group that it watches, and then runs
 * the further command, if there is one. However the service dies, the system closes the pipe that the guard reads. If the service
 * hangs, post kills the service's whole group. So the guard has a group of its own. A guard starts before the processes that it
 * watches, so that the service cannot die between the two starts.
 */
export function startGuard(further?: { argv: readonly string[]; env: NodeJS.ProcessEnv }) {
  const guard: ChildProcess = spawn('/bin/sh', ['-c', GUARD, 'sh', ...(further?.argv ?? [])], {
    cwd: '/',
    env: further?.env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // If the guard could not be started, there is nothing to wait for.
  const exit = once(guard, 'exit').catch(() => undefined)
  // At the limit of open files, there is no stdin.
  guard.stdin?.on('error', () => undefined)
  return {
    watch: (groupId: number) => guard.stdin?.write(`${groupId}\n`),
    /** Ends the guard. */
    async [Symbol.asyncDispose]() {
      guard.kill('SIGKILL')
      await exit
    },
  }
}

/** Kills until no process is left, because a process may start another process meanwhile. Throws if one of them stays alive. */
export async function killProcesses(group: Partial<ProcessGroup>): Promise<void> {
  const left = await waitUntilGone(group, KILL_LIMIT_MS, (id) => signalProcess(id, 'SIGKILL'))
  if (left.length === 0) return
  const why = 'A process of another user cannot be killed, for example one that was started with sudo'
  throw new Error(`these processes are still alive: ${left.join(', ')}. ${why}`)
}

/** Returns the processes that have not exited in time. Until then, `act` is called with each of them. */
export async function waitUntilGone(
  group: Partial<ProcessGroup>,
  withinMs: number,
  act: (id: number) => void = () => undefined,
): Promise<readonly number[]> {
  const deadlineMs = performance.now() + withinMs
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const left = findProcesses(group)
    if (left.length === 0 || performance.now() >= deadlineMs) return left
    left.forEach(act)
    await delay(pauseMs)
  }
}

/**
 * Finds the living processes in the run's process group, and those that carry its marker. These include what a test runner starts in
 * other groups, such as Playwright's web server and browsers. Without `/proc`, only the group is found. Its number is negative then.
 */
function findProcesses({ groupId, runId }: Partial<ProcessGroup>): number[] {
  if (process.platform !== 'linux') return groupId !== undefined && signalProcess(-groupId, 0) ? [-groupId] : []
  const marker = `${MARKER_VARIABLE}=${runId}`
  // The reads are synchronous, because they touch no disk. A container may have no `ps`.
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const living = ids.flatMap((id) => {
    // The command's name stands in brackets and may contain anything.
    const [state = '', , group] = readIfPossible(`/proc/${id}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')
    if (group === undefined || /[ZX]/.test(state)) return []
    const hasMarker = runId !== undefined && readIfPossible(`/proc/${id}/environ`).split('\0').includes(marker)
    return { id: Number(id), group: Number(group), hasMarker }
  })
  // If a marked process leads a group, the whole group belongs to the run. Members may have cleared their environment.
  const leaders = living.filter(({ id, group, hasMarker }) => hasMarker && id === group)
  const groups = new Set([groupId, ...leaders.map(({ id }) => id)])
  return living.filter(({ group, hasMarker }) => hasMarker || groups.has(group)).map(({ id }) => id)
}

export function readIfPossible(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The process has exited meanwhile, or it belongs to another user.
    return ''
  }
}

/** Sends a signal to a process, or to a group if the id is negative. If the process has exited, returns false. */
export function signalProcess(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // EPERM: a test has changed its user. On macOS, also a group of zombies gives EPERM, until their parents have noticed that they have exited.
    // The process or group counts as alive in both cases.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
    return code === 'EPERM'
  }
}
