import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** Marks every process of a run: whatever a test starts inherits it, in any process group. */
export const MARKER_VARIABLE = 'LOCAL_SERVICE_RUN_ID'

/**
 * The living processes that belong to a run: those in its process group and, on Linux, those that carry its marker,
 * which also finds what a test runner starts in other groups (Playwright's web server and browsers).
 */
export async function findProcessesOf(groupId: number, marker: string): Promise<number[]> {
  return process.platform === 'linux' ? findInProc(groupId, marker) : findByPs(groupId)
}

/** Synchronous on purpose: these reads touch no disk, and through the thread pool they cost six times as much. */
function findInProc(groupId: number, marker: string): number[] {
  const mark = `${MARKER_VARIABLE}=${marker}`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => belongsTo(id, groupId, mark))
}

function belongsTo(id: number, groupId: number, mark: string): boolean {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8')
    // The command's name is in brackets and may contain anything; the state and the group follow it.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return false
    return Number(group) === groupId || readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(mark)
  } catch {
    // It has exited meanwhile, or belongs to another user.
    return false
  }
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
export function signalProcess(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal)
  } catch (error) {
    // EPERM: a test changed its user, or (macOS) only zombies are left of the group.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}
