import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import { killProcesses, MARKER_VARIABLE, type ProcessGroup, startGuard, stopProcesses } from './processes.ts'

export interface Command {
  readonly argv: readonly string[]
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly runId: string
  readonly stopGraceMs: number
  readonly output?: { write(text: string): void } | undefined
  readonly whenServiceDies?: Parameters<typeof startGuard>[1]
  readonly logError: (text: string) => void
}

type End =
  | { readonly kind: 'exited'; readonly code: number }
  /** A signal that this service did not send. */
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not-started'; readonly reason: string }
  /** The stop signal aborted, before the start or after. */
  | { readonly kind: 'stopped' }
  /** There was nothing to run, because an earlier step or job has run the tests. */
  | { readonly kind: 'no-command' }

/** The output has the first and the last lines that the command wrote, without colours. */
export type CommandEnd = End & { readonly output: string }

const FIRST_OUTPUT_CHARS = 2000
const LAST_OUTPUT_CHARS = 20_000
/** Time to read the rest of the output after the exit. If a pipe stays open longer, another process holds it. */
const LAST_OUTPUT_LIMIT_MS = 500

/**
 * When this resolves, no process that the command started is alive, also if the command exits by itself and leaves processes. If some
 * cannot be killed, the result of the command counts nevertheless, and the log has an error.
 */
export async function runCommand(command: Command, stop: AbortSignal): Promise<CommandEnd> {
  if (stop.aborted) return { kind: 'stopped', output: '' }
  const excerpt = createExcerpt()
  const guard = startGuard(command.runId, command.whenServiceDies)
  let child: ChildProcess
  try {
    child = start(command, (text) => {
      excerpt.add(text)
      command.output?.write(text)
    })
    if (child.pid !== undefined) guard.watch(child.pid)
    await once(child, 'spawn')
  } catch (error) {
    await guard.dismiss()
    return { kind: 'not-started', reason: reasonOf(error, command), output: '' }
  }
  const closed = once(child, 'close')
  const group = { groupId: Number(child.pid), runId: command.runId }
  let end: End
  try {
    end = await waitForEnd(child, group, command.stopGraceMs, stop)
  } finally {
    await killProcesses(group).catch((error) => command.logError(messageOf(error)))
    await guard.dismiss()
  }
  await Promise.race([closed, delay(LAST_OUTPUT_LIMIT_MS, undefined, { ref: false })])
  child.stdout?.destroy()
  child.stderr?.destroy()
  return { ...end, output: excerpt.text() }
}

/** Waits until the command exits. If the run is stopped first, stops the processes before it returns. */
async function waitForEnd(child: ChildProcess, group: ProcessGroup, graceMs: number, stop: AbortSignal): Promise<End> {
  try {
    const [code, signal] = await once(child, 'exit', { signal: stop })
    return code === null ? { kind: 'killed', signal } : { kind: 'exited', code }
  } catch (error) {
    if (!stop.aborted) throw error
    await stopProcesses(group, graceMs)
    return { kind: 'stopped' }
  }
}

/** Keeps the beginning and the end of a long text. npm writes the error first, and then many lines about its usage. */
function createExcerpt() {
  let [first, last, isTruncated] = ['', '', false]
  return {
    add(text: string): void {
      const room = FIRST_OUTPUT_CHARS - first.length
      first += text.slice(0, room)
      last += text.slice(room)
      if (last.length <= LAST_OUTPUT_CHARS) return
      isTruncated = true
      // Whole lines are kept if there are any, because a cut within a line could break a terminal sequence.
      last = last.slice(-LAST_OUTPUT_CHARS)
      last = last.slice(last.indexOf('\n') + 1)
    },
    text(): string {
      const beginning = isTruncated ? `${first.slice(0, first.lastIndexOf('\n') + 1) || first}…\n` : first
      return withoutTerminalSequences(beginning + last)
    },
  }
}

function start({ argv, folder, env, runId }: Command, onOutput: (text: string) => void): ChildProcess {
  const [program = '', ...args] = argv
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...env, [MARKER_VARIABLE]: runId },
    stdio: ['ignore', 'pipe', 'pipe'],
    // With its own session and process group, the command does not get Ctrl-C from the service's terminal.
    detached: true,
  })
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput)
  return child
}

function reasonOf(error: unknown, { argv: [program], folder }: Command): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'E2BIG') return 'its arguments and variables are larger than this system allows'
  if (code === 'EACCES') return `${program} is not executable, or its folder cannot be read`
  // The system has one error for a missing program and a missing folder.
  if (code === 'ENOENT') return existsSync(folder) ? `there is no program ${program}` : `there is no folder ${folder}`
  return messageOf(error)
}

/** From this exit code on, a shell says that a signal ended its command. */
const FIRST_SIGNAL_CODE = 128

export function hasSucceeded(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code === 0
}

/** Whether nothing cut the tests off, as far as the command can say it. */
export function hasEndedByItself(end: CommandEnd): boolean {
  return end.kind === 'exited' || end.kind === 'no-command'
}

/** Whether the command itself exited with an error code. */
export function hasFailed(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code > 0 && end.code < FIRST_SIGNAL_CODE
}

export function describeEnd(end: CommandEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exited with code ${end.code}`
    case 'killed':
      return `was killed by ${end.signal}`
    case 'not-started':
      return `could not be started: ${end.reason}`
    case 'stopped':
      return 'was stopped'
    case 'no-command':
      // The sentence begins with what the run did instead, such as "reading the JUnit files".
      return 'failed'
  }
}
