import { execFile } from 'node:child_process'
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { fieldsOf, parseJson } from '../../../src/text/json.ts'

export interface TestedFolders {
  /** The `filePath` of a test case is relative to this folder. */
  readonly root: string
  /** The project's folder. If the title of a test case names a file, its path is relative to this folder. */
  readonly folder: string
}

/** Whether a path is the folder or below it, by their names only. The caller must look for links. */
export function isInside(path: string, folder: string): boolean {
  return !/^\.\.(\/|$)/.test(relative(folder, path))
}

/** Lists a folder and the folders above it, up to `root`. */
export function foldersBetween({ folder, root }: TestedFolders): string[] {
  const folders = [folder]
  for (let at = folder; at !== root && at !== dirname(at); at = dirname(at)) folders.push(dirname(at))
  return folders
}

/** Says which files are in the repository itself, and not in a submodule or in another repository in one of its folders. */
export function createIsOwnFile(root: string): (file: string) => boolean {
  const known = new Map([[root, true]])
  const isOwn = (folder: string): boolean => {
    let isOwnFolder = known.get(folder)
    isOwnFolder ??= isInside(folder, root) && !existsSync(join(folder, '.git')) && isOwn(dirname(folder))
    known.set(folder, isOwnFolder)
    return isOwnFolder
  }
  return (file) => isOwn(dirname(file))
}

// Tests may have made the files and folders below so that they do harm.

const READ_LIMIT_BYTES = 16 * 1024 * 1024

/** Reads a whole file, as `readPartOfFile` does. The caller checks what the text holds. */
export function readRegularFile(file: string): string {
  return readPartOfFile(file, 0, Number.POSITIVE_INFINITY, READ_LIMIT_BYTES).toString('utf8')
}

/** Reads the `package.json` of a folder. The result is empty if it cannot be read. */
export function readManifest(folder: string): Partial<Record<string, unknown>> {
  try {
    const file = realpathSync(join(folder, 'package.json'))
    // npm accepts a byte order mark.
    return fieldsOf(parseJson(readRegularFile(file).replace(/^\uFEFF/, '')))
  } catch {
    return {}
  }
}

/** Tests wrote more than the service reads. */
export class OverLimit extends Error {}

/**
 * Reads the bytes from `from` on, but at most `partBytes`. A missing file is empty. Throws for a link, for a file that would
 * block (a named pipe), and for a file that never ends. Throws OverLimit for a file that is too large.
 */
export function readPartOfFile(
  file: string,
  from: number,
  partBytes: number,
  limitBytes = Number.POSITIVE_INFINITY,
): Buffer {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return Buffer.alloc(0)
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = fstatSync(descriptor)
    if (!opened.isFile()) throw new Error(`${file} is not a regular file`)
    if (opened.size > limitBytes) throw new OverLimit(`${file} is larger than ${limitBytes / 2 ** 20} MiB`)
    // Others may still write to the file, so no further bytes are read.
    const bytes = Buffer.alloc(Math.max(0, Math.min(opened.size - from, partBytes)))
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from))
  } finally {
    closeSync(descriptor)
  }
}

/** Tests may have taken permissions away. If the argument of `chmod -R` is a link, it changes what is behind the link. */
const REMOVE = `rm -rf -- "$1" 2>/dev/null && exit
test -L "$1" || chmod -R u+rwx -- "$1"
rm -rf -- "$1"`

/** The path must have no link, because tests may have put one there. They may make a path that is too long for Node, but not for `rm`. */
export async function removeFolder(folder: string): Promise<void> {
  const parent = dirname(folder)
  if (!existsSync(parent)) return
  if (realpathSync(parent) !== parent) throw new Error(`a link has replaced a part of ${parent}`)
  await promisify(execFile)('sh', ['-c', REMOVE, 'sh', folder])
}
