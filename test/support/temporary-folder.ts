import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder. It is removed when the test ends. */
export function temporaryFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'test-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }))
  return path
}
