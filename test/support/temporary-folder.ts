import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A new folder. It is removed when the test ends. */
export function temporaryFolder(removeAfter: (remove: () => void) => void = onTestFinished): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'test-')))
  removeAfter(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }))
  return path
}

/** For all tests of a file, because the end of a concurrent test cannot remove a folder. */
export const folderOfTests = () => temporaryFolder(afterAll)
