import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022

/** Creates a folder that only the user can enter, unless it exists, and returns its real path. */
export function createPrivateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return realpathSync(folder)
}

/**
 * The first folder, from this one up, in which other users can create files; undefined if there is none. Node looks for
 * packages in every folder above a test: whoever can write to one of them can run code in the tests.
 */
export function findSharedFolder(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const { mode, uid } = statSync(at)
    const belongsToUser = uid === process.getuid?.() || uid === 0
    if (!belongsToUser || (mode & WRITABLE_BY_OTHERS) !== 0) return at
    if (at === dirname(at)) return undefined
  }
}
