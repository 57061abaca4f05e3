import { execFile } from 'node:child_process'
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { fieldsOf, parseJson } from '../../../src/text/json.ts'

// Others may have made these files and folders so that they do harm: tests, or other users of the machine.

const READ_LIMIT_BYTES = 16 * 1024 * 1024

interface ReadOptions {
  readonly limitBytes?: number
  /** Without this, a file of another user is refused. */
  readonly acceptsAnyOwner?: boolean
}

/**
 * Reads a file that others can write. A missing file is empty. Throws for a link, for a file of another user, for a file
 * that would block (a named pipe), and for a file that is too large or never ends. The caller checks what the text holds.
 */
export function readRegularFile(file: string, options: ReadOptions = {}): string {
  return readPartOfFile(file, 0, Number.POSITIVE_INFINITY, options).toString('utf8')
}

/** The `package.json` of a folder. Empty if it cannot be read. Another user may have installed the package. */
export function readManifest(folder: string): Partial<Record<string, unknown>> {
  try {
    const file = realpathSync(join(folder, 'package.json'))
    // npm accepts a byte order mark.
    return fieldsOf(parseJson(readRegularFile(file, { acceptsAnyOwner: true }).replace(/^\uFEFF/, '')))
  } catch {
    return {}
  }
}

/** Reads the bytes from `from` on, but at most `partBytes`. Throws as `readRegularFile` does. */
export function readPartOfFile(
  file: string,
  from: number,
  partBytes: number,
  { limitBytes = READ_LIMIT_BYTES, acceptsAnyOwner = false }: ReadOptions = {},
): Buffer {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return Buffer.alloc(0)
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  // The file may have been replaced since the check.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = fstatSync(descriptor)
    if (!opened.isFile()) throw new Error(`${file} is not a regular file`)
    if (!acceptsAnyOwner && opened.uid !== process.getuid?.()) throw new Error(`${file} belongs to another user`)
    if (opened.size > limitBytes) throw new Error(`${file} is larger than ${limitBytes / 2 ** 20} MiB`)
    // Others may still write to the file, so no further bytes are read.
    const bytes = Buffer.alloc(Math.max(0, Math.min(opened.size - from, partBytes)))
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from))
  } finally {
    closeSync(descriptor)
  }
}

/** Throws for a link, and for a named pipe, because a write to it would never return. */
export function openToAppend(file: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw new Error(`${file} is not a regular file`)
}

/** The path must have no link, because tests may have put one there. They may make a path that is too long for Node, but not for `rm`. */
export async function removeFolder(folder: string): Promise<void> {
  const parent = dirname(folder)
  if (!existsSync(parent)) return
  if (realpathSync(parent) !== parent) throw new Error(`a link has replaced a part of ${parent}`)
  const run = promisify(execFile)
  const remove = () => run('rm', ['-rf', '--', folder])
  await remove().catch(async (error: unknown) => {
    // `chmod -R` does not follow the links in a folder. But if its argument is a link, it changes what is behind the link.
    if (!lstatSync(folder).isDirectory()) throw error
    await run('chmod', ['-R', 'u+rwx', '--', folder])
    await remove()
  })
}
