import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './documents.ts'

const TYPES = join(ROOT, 'node_modules/@octokit/openapi-types/types.d.ts')
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc')
const OPTIONS = [
  '--ignoreConfig',
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--target',
  'es2022',
  '--module',
  'preserve',
]

/** What differs from the body of this request, in the types that GitHub publishes for its REST API. */
export function problemsOfRuleset(body: unknown, request: 'repos/create-repo-ruleset' | 'repos/create-org-ruleset') {
  const folder = mkdtempSync(join(tmpdir(), 'ruleset-'))
  const type = `NonNullable<operations['${request}']['requestBody']>['content']['application/json']`
  const lines = [
    `import type { operations } from ${JSON.stringify(TYPES)}`,
    `export const body: ${type} = ${JSON.stringify(body)}`,
  ]
  try {
    writeFileSync(join(folder, 'ruleset.ts'), lines.join('\n'))
    const { stdout, status } = spawnSync(process.execPath, [COMPILER, ...OPTIONS, 'ruleset.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
    return status === 0 ? [] : stdout.trim().split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
