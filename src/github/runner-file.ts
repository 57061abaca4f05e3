import { appendFileSync, closeSync, constants, fstatSync, openSync } from 'node:fs'

const { O_APPEND, O_NONBLOCK = 0, O_WRONLY } = constants

/** Adds an entry to the runner's file of outputs or of state. */
export function appendEntry(path: string | undefined, name: string, value: string): void {
  if (/[\r\n]/.test(value)) throw new Error(`${name} has a line break in it`)
  append(path, () => `${name}=${value}\n`)
}

/**
 * Appends to a file that the runner has made. `build` receives the size of what the file contains. A named pipe fails at
 * once, because main would handle no signal while it waits for the reader of the pipe.
 */
export function append(path: string | undefined, build: (alreadyBytes: number) => string): void {
  if (!path) throw new Error('the runner has given no file for it')
  const file = openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK)
  try {
    appendFileSync(file, build(fstatSync(file).size))
  } finally {
    closeSync(file)
  }
}
