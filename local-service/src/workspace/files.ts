import { execFile } from 'node:child_process'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

// Tests may have made these files and folders so that they do harm.

const READ_LIMIT_BYTES = 16 * 1024 * 1024

/** Reads a file. A missing file is empty. Throws for a link, and for a file that would block (a named pipe) or never end. */
export function readRegularFile(file: string, limitBytes = READ_LIMIT_BYTES): string {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return ''
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  // The file may have been replaced since the check.
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
 * Removes a folder with everything in it, even if its owner may not write in it. Tests must not be able to replace the folder
 * itself. They may make a path that is longer than the system allows. Node cannot remove such a path, but `rm` can.
 */
export async function removeFolder(folder: string): Promise<void> {
  const run = promisify(execFile)
  const remove = () => run('rm', ['-rf', '--', folder])
  await remove().catch(async (error: unknown) => {
    // `chmod -R` does not follow the links in a folder. But if its argument is a link, it changes what is behind the link.
    if (!lstatSync(folder).isDirectory()) throw error
    await run('chmod', ['-R', 'u+rwx', '--', folder])
    await remove()
  })
}
