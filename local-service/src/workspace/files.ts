import { execFile } from 'node:child_process'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

// Files and folders that tests may have made, and made so that they do harm.

const READ_LIMIT_BYTES = 16 * 1024 * 1024

/** Reads a file; a missing one is empty. Throws for a link, and for what would block (a named pipe) or never end. */
export function readRegularFile(file: string, limitBytes = READ_LIMIT_BYTES): string {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return ''
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  // It may have been replaced meanwhile.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = fstatSync(descriptor)
    if (!opened.isFile()) throw new Error(`${file} is not a regular file`)
    if (opened.size > limitBytes) throw new Error(`${file} is larger than ${limitBytes / 2 ** 20} MiB`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Removes a folder with everything in it, even if its owner may not write in it. Node cannot remove a file whose path is
 * longer than the system allows, and tests may make one. `rm` can, because it walks from folder to folder.
 */
export async function removeFolder(folder: string): Promise<void> {
  const run = promisify(execFile)
  const remove = () => run('rm', ['-rf', '--', folder])
  await remove().catch(async () => {
    await run('chmod', ['-R', 'u+rwx', '--', folder])
    await remove()
  })
}
