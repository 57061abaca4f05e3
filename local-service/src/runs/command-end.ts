import type { CommandEnd } from './run-command.ts'

// What is said about how a command ended.

/** From this exit code on, a shell says that a signal ended its command. */
const FIRST_SIGNAL_CODE = 128

export function hasSucceeded(end: CommandEnd): boolean {
  return end.kind === 'exited' && end.code === 0
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
  }
}

export function quoteOutput({ output }: CommandEnd): string {
  const text = output.trim()
  return text === '' ? '' : `; its output:\n${text}`
}
