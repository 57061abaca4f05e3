import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { createRepository, installPackages } from '../test/support/git-repository.ts'
import { prepareStep } from '../tools/runner-emulator/step-runner/runner.ts'

const ROOT = join(import.meta.dirname, '..')

export interface Framework {
  readonly name: string
  readonly module: string
  /** The end of the names of its test files. */
  readonly ending: string
  readonly config: Readonly<Record<string, string>>
  /** The commands by which a person runs all tests, runs a shard, and merges the reports of the shards. */
  readonly all: readonly string[]
  readonly shard: (index: number) => readonly string[]
  readonly merge: readonly string[]
}

const SHARDS = 4
const VITEST = ['node_modules/vitest/vitest.mjs', 'run']
const PLAYWRIGHT = 'node_modules/@playwright/test/cli.js'

export const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'Vitest',
    module: 'vitest',
    ending: '.test.ts',
    config: {},
    all: VITEST,
    shard: (index) => [
      ...[...VITEST, `--shard=${index}/${SHARDS}`, '--reporter=blob'],
      `--outputFile=all/blob-${index}-${SHARDS}.json`,
    ],
    merge: [...VITEST, '--mergeReports=all'],
  },
  {
    name: 'Playwright',
    module: '@playwright/test',
    ending: '.spec.ts',
    config: { 'playwright.config.ts': "export default { testDir: '.' }\n" },
    all: [PLAYWRIGHT, 'test'],
    shard: (index) => [PLAYWRIGHT, 'test', `--shard=${index}/${SHARDS}`, '--reporter=blob'],
    merge: [PLAYWRIGHT, 'merge-reports', 'all', '--config=playwright.config.ts'],
  },
]

/** A project with so many test files, and so many tests in each. */
export async function createProject({ module, ending, config }: Framework, files: number, tests: number) {
  const text = `import { test } from '${module}'\nfor (let i = 0; i < ${tests}; i++) test(\`adds \${i}\`, () => {})\n`
  const repository = await createRepository({
    '.gitignore': 'node_modules\ntest-results\nall\n',
    'package.json': JSON.stringify({ type: 'module', devDependencies: { [module]: '*' } }),
    ...config,
    ...Object.fromEntries(Array.from({ length: files }, (_, index) => [`shop-${index}${ending}`, text])),
  })
  await installPackages(repository.folder)
  return repository.folder
}

/** Leaves the reports of the shards in the folder `all`. */
export function runShards(folder: string, { shard }: Framework): void {
  for (let index = 1; index <= SHARDS; index++) {
    const env = { ...process.env, PLAYWRIGHT_BLOB_OUTPUT_FILE: join(folder, `all/report-${index}.zip`) }
    execFileSync(process.execPath, shard(index), { cwd: folder, stdio: 'ignore', env })
  }
}

export function timeByHand(folder: string, command: readonly string[]): number {
  const begunMs = performance.now()
  execFileSync(process.execPath, command, { cwd: folder, stdio: 'ignore', env: { ...process.env, CI: 'true' } })
  return performance.now() - begunMs
}

/** Both actions: the local service and the gate, each with its post step. */
export async function timeActions(workspace: string, ofService: Readonly<Record<string, string>>): Promise<number> {
  const begunMs = performance.now()
  await using service = prepareStep({ actionDir: join(ROOT, 'local-service'), workspace, inputs: ofService })
  const { conclusion, env, log } = await service.startMain().result()
  if (conclusion !== 'success') throw new Error(log.join('\n'))
  await using gate = prepareStep({ workspace, tempDir: service.tempDir, env })
  const { main } = await gate.run()
  if (main.conclusion !== 'success') throw new Error(main.log.join('\n'))
  await service.runPost()
  return performance.now() - begunMs
}
