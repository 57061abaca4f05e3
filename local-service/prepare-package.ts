// Runs before `npm pack`: makes JavaScript of src/, because Node strips no types below node_modules, and copies what the
// package shares with the repository. Nothing of it is committed.
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const HERE = import.meta.dirname
const REPOSITORY = dirname(HERE)

for (const folder of ['build', 'docs']) rmSync(join(HERE, folder), { recursive: true, force: true })
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
execFileSync(process.execPath, [join(typescript, 'bin/tsc'), '--project', HERE], { stdio: 'inherit' })
// The action is not in the package: a workflow uses it by its repository.
rmSync(join(HERE, 'build/src/action'), { recursive: true })
for (const file of ['docs/openapi.yaml', 'LICENSE']) cpSync(join(REPOSITORY, file), join(HERE, file))
