import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'

const { O_APPEND, O_NONBLOCK = 0, O_WRONLY } = constants

/**
 * Appends to a file of the runner's, at once: what was written before a kill counts. Throws if it is no plain file,
 * because to open a named pipe, or to write to it, could take for ever.
 */
export function appendToRunnerFile(path: string, text: string): void {
  const file = openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a plain file`)
    writeSync(file, text)
  } finally {
    closeSync(file)
  }
}
