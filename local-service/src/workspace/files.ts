import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

// Files and folders that tests may have made, and made so that they do harm.

const READ_LIMIT_BYTES = 64 * 1024 * 1024

/** Reads a file; a missing one is empty. Throws for a link, and for what would block (a named pipe) or never end. */
export function readRegularFile(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return ''
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  // It may have been replaced meanwhile.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = fstatSync(descriptor)
    if (!opened.isFile()) throw new Error(`${file} is not a regular file`)
    if (opened.size > READ_LIMIT_BYTES) throw new Error(`${file} is larger than ${READ_LIMIT_BYTES / 2 ** 20} MiB`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/** Removes a folder with everything in it, even if its owner may not write in it. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    await remove()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    await makeWritable(folder)
    await remove()
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
  }
}
