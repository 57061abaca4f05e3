import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { isDistKnownFresh } from '../../scripts/build-fingerprint.ts'

/** Refuses to test a stale build. To find out, it builds once (9 s), unless nothing has changed since the last time. */
export default function checkBuild(): void {
  // On Windows, a build has other line breaks and paths. The other systems compare it.
  if (process.platform === 'win32' || isDistKnownFresh()) return
  try {
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts'), '--check'], { stdio: 'pipe' })
  } catch (error) {
    const { stderr } = error as { readonly stderr: Buffer }
    throw new Error(`${stderr}Tests that need no build: npm run unit -- --project source`)
  }
}
