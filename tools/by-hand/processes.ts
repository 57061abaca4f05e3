import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { ProcessEnd } from './results.ts'

export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs a command to its end. What it leaves in its process group is then killed. */
export async function runToEnd(
  { argv: [program, ...args], folder, env }: Command,
  outputFile: string,
  stop: AbortSignal,
): Promise<{ readonly end: ProcessEnd; readonly output: string }> {
  // A process that the command leaves could hold a pipe open. A file has no such end to wait for.
  const file = openSync(outputFile, 'w')
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', file, file], detached: true })
  closeSync(file)
  const end = await endOf(child, stop)
  killGroup(child)
  return { end, output: readFileSync(outputFile, 'utf8') }
}

async function endOf(child: ChildProcess, stop: AbortSignal): Promise<ProcessEnd> {
  const kill = () => killGroup(child)
  if (stop.aborted) kill()
  stop.addEventListener('abort', kill)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return stop.aborted ? 'stopped' : (code ?? signal ?? 'stopped')
  } finally {
    stop.removeEventListener('abort', kill)
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}
