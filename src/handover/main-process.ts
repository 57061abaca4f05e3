import { readFileSync } from 'node:fs'

/** Identifies main's process. The process id alone does not, because another process may get it after main's exit. */
export interface MainProcess {
  readonly pid: number
  /** Field 22 of `/proc/<pid>/stat`, and the machine's boot id. Both are absent if there is no `/proc`. */
  readonly startTime?: string | undefined
  readonly bootId?: string | undefined
}

export function thisProcess(): MainProcess {
  const { pid } = process
  return { pid, startTime: processStat(pid)?.startTime, bootId: bootId() }
}

/**
 * Whether main still runs. A zombie has exited. If there is no `/proc`, main counts as running while a
 * process that this user may signal has main's id.
 */
export function isRunning(main: MainProcess): boolean {
  if (main.startTime === undefined) return trySignal(main.pid, 0)
  const stat = main.bootId === bootId() ? processStat(main.pid) : undefined
  return stat !== undefined && stat.startTime === main.startTime && stat.state !== 'Z' && stat.state !== 'X'
}

/** False if there is no `/proc`, because another process may have main's id. */
export function canSignal(main: MainProcess): boolean {
  return main.startTime !== undefined
}

/** Signals main if it still runs. */
export function sendSignal(main: MainProcess, signal: 'SIGHUP' | 'SIGKILL'): void {
  if (canSignal(main) && isRunning(main)) trySignal(main.pid, signal)
}

/** Signal 0 only checks whether there is such a process. Returns whether this user may signal it. */
function trySignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

function processStat(pid: number): { readonly state: string; readonly startTime: string } | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // Field 2 is the program's name in parentheses, which may itself contain spaces and parentheses.
  const fromField3 = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fromField3[0] ?? '', startTime: fromField3[22 - 3] ?? '' }
}

function bootId(): string | undefined {
  return readText('/proc/sys/kernel/random/boot_id')?.trim()
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
