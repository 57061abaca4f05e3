import { hash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Remembers that dist/ was built from this src/. Then tests need no new build to know that dist/ is fresh.

const root = resolve(import.meta.dirname, '..')
const record = join(root, 'build/fresh-dist.sha256')
const FILES = [
  ...['', 'local-service/'].flatMap((part) => [`${part}src/**/*.ts`, `${part}tsconfig*.json`, `${part}dist/*/*`]),
  ...['scripts/build.ts', 'package-lock.json'],
]

export function rememberFreshDist(): void {
  writeFileSync(record, fingerprint())
}

/** False if dist/ was not built from src/, and also if the two were not compared since the last change. */
export function isDistKnownFresh(): boolean {
  try {
    return readFileSync(record, 'utf8') === fingerprint()
  } catch {
    return false
  }
}

function fingerprint(): string {
  const files = globSync(FILES, { cwd: root }).toSorted()
  return files.map((file) => `${hash('sha256', readFileSync(join(root, file)))} ${file}\n`).join('')
}
