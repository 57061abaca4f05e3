import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import { killProcesses, MARKER_VARIABLE, type ProcessGroup, startGuard, stopProcesses } from './processes.ts'
import { whyNotFound } from './program.ts'

export interface Command {
  readonly argv: readonly string[]
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly runId: string
  readonly stopGraceMs: number
  readonly output?: { write(text: string): void } | undefined
  readonly whenServiceDies?: Parameters<typeof startGuard>[0]
  readonly logError: (text: string) => void
}

type End =
  | { readonly kind: 'exited'; readonly code: number }
  /** A signal ended it, or it was stopped, or it was not started. `how` is the rest of a sentence about the command. */
  | { readonly kind: 'cut-off'; readonly how: string }
  /** There was nothing to run, because an earlier step or job has run the tests. */
  | { readonly kind: 'no-command' }

/** The output has the last lines that the command wrote, without colours. */
export type CommandEnd = End & { readonly output: string }

/** The end of a command that the stop signal ended, before its start or after. */
export const STOPPED = { kind: 'cut-off', how: 'was stopped', output: '' } as const

const LAST_OUTPUT_CHARS = 20_000
/** Time to read the rest of the output after the exit. If a pipe stays open longer, another process holds it. */
const LAST_OUTPUT_LIMIT_MS = 500

/**
 * Runs the command. When this resolves, no process of the run is left, also if the command exits by itself and leaves processes. The service
 * finds them by the process group and by the marker of the run. It misses a process that has left the group and cleared its environment. On
 * macOS, which has no search for the marker, it misses each process that has left the group. If a process cannot be killed, the result of the
 * command counts nevertheless, and the log has an error.
 */
export async function runCommand(command: Command, stop: AbortSignal): Promise<CommandEnd> {
  if (stop.aborted) return STOPPED
  const { argv, folder, env, runId, stopGraceMs, output, whenServiceDies, logError } = command
  const [program = '', ...args] = argv
  let written = ''
  await using guard = startGuard(whenServiceDies)
  let child: ChildProcess
  try {
    child = spawn(program, args, {
      cwd: folder,
      env: { ...env, [MARKER_VARIABLE]: runId },
      stdio: ['ignore', 'pipe', 'pipe'],
      // With its own session and process group, the command does not get Ctrl-C from the service's terminal.
      detached: true,
    })
    if (child.pid !== undefined) guard.watch(child.pid)
    await once(child, 'spawn')
  } catch (error) {
    return { kind: 'cut-off', how: `could not be started: ${whyNotStarted(error, command)}`, output: '' }
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      written = lastLinesOf(written + text)
      output?.write(text)
    })
  }
  const closed = once(child, 'close')
  const group = { groupId: Number(child.pid), runId }
  const end = await waitForEnd(child, group, stopGraceMs, stop)
  await killProcesses(group).catch((error) => logError(messageOf(error)))
  await Promise.race([closed, delay(LAST_OUTPUT_LIMIT_MS, undefined, { ref: false })])
  child.stdout?.destroy()
  child.stderr?.destroy()
  return { ...end, output: withoutTerminalSequences(written) }
}

/** Waits until the command exits. If the run is stopped first, stops the processes before it returns. */
async function waitForEnd(child: ChildProcess, group: ProcessGroup, graceMs: number, stop: AbortSignal): Promise<End> {
  try {
    const [code, signal] = await once(child, 'exit', { signal: stop })
    return code === null ? { kind: 'cut-off', how: `was killed by ${signal}` } : { kind: 'exited', code }
  } catch (error) {
    if (!stop.aborted) throw error
    await stopProcesses(group, graceMs)
    return STOPPED
  }
}

/** Keeps whole lines if there are any, because a cut within a line could break a terminal sequence. */
function lastLinesOf(text: string): string {
  if (text.length <= LAST_OUTPUT_CHARS) return text
  const last = text.slice(-LAST_OUTPUT_CHARS)
  return last.slice(last.indexOf('\n') + 1)
}

function whyNotStarted(error: unknown, { argv: [program], folder }: Command): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'E2BIG') return 'its arguments and variables are larger than this system allows'
  if (code === 'EACCES') return `${program} is not executable, or its folder cannot be read`
  if (code === 'ENOENT') return whyNotFound(program, folder)
  return messageOf(error)
}

/** From this exit code on, a shell says that a signal ended its command. */
const FIRST_SIGNAL_CODE = 128

export function hasSucceeded(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code === 0
}

/** Whether the command itself exited with an error code. If a signal ended the command, it neither has succeeded nor exited with an error. */
export function exitedWithError(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code > 0 && end.code < FIRST_SIGNAL_CODE
}

export function describeEnd(end: CommandEnd): string {
  if (end.kind === 'cut-off') return end.how
  // Without a command, the sentence begins with what the run did instead, such as "reading the JUnit files".
  return end.kind === 'exited' ? `exited with code ${end.code}` : 'failed'
}
