import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { createRepository, installPackages } from '../test/support/git-repository.ts'
import { prepareStep } from '../tools/runner-emulator/step-runner/runner.ts'

const ROOT = join(import.meta.dirname, '..')

/** A project with one test, and the command by which a person runs it. */
export interface Project {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly command: readonly string[]
}

export const PROJECTS: readonly Project[] = [
  {
    name: 'Vitest',
    files: {
      'package.json': '{ "type": "module", "devDependencies": { "vitest": "*" } }',
      'a.test.ts': "import { test } from 'vitest'\ntest('adds', () => {})\n",
    },
    command: ['node_modules/vitest/vitest.mjs', 'run'],
  },
  {
    name: 'Playwright',
    files: {
      'package.json': '{ "type": "module", "devDependencies": { "@playwright/test": "*" } }',
      'playwright.config.ts': "export default { testDir: '.' }\n",
      'a.spec.ts': "import { test } from '@playwright/test'\ntest('adds', () => {})\n",
    },
    command: ['node_modules/@playwright/test/cli.js', 'test'],
  },
]

/** A project with 2,000 tests, which run in shards, and the command by which a person merges the reports of the shards. */
export interface ShardedProject extends Project {
  readonly shard: (index: number) => readonly string[]
}

const SHARDS = 4
const [MANY_FILES, TESTS_OF_FILE] = [20, 100]
const manyFiles = (module: string, ending: string) =>
  Object.fromEntries(
    Array.from({ length: MANY_FILES }, (_, index) => [
      `shop-${index}${ending}`,
      `import { test } from '${module}'\nfor (let i = 0; i < ${TESTS_OF_FILE}; i++) test(\`adds \${i}\`, () => {})\n`,
    ]),
  )

export const SHARDED_PROJECTS: readonly ShardedProject[] = [
  {
    name: 'Vitest',
    files: {
      'package.json': '{ "type": "module", "devDependencies": { "vitest": "*" } }',
      ...manyFiles('vitest', '.test.ts'),
    },
    shard: (index) => [
      ...['node_modules/vitest/vitest.mjs', 'run', `--shard=${index}/${SHARDS}`, '--reporter=blob'],
      `--outputFile=all/blob-${index}-${SHARDS}.json`,
    ],
    command: ['node_modules/vitest/vitest.mjs', 'run', '--mergeReports=all'],
  },
  {
    name: 'Playwright',
    files: {
      'package.json': '{ "type": "module", "devDependencies": { "@playwright/test": "*" } }',
      'playwright.config.ts': "export default { testDir: '.' }\n",
      ...manyFiles('@playwright/test', '.spec.ts'),
    },
    shard: (index) => ['node_modules/@playwright/test/cli.js', 'test', `--shard=${index}/${SHARDS}`, '--reporter=blob'],
    command: ['node_modules/@playwright/test/cli.js', 'merge-reports', 'all', '--config=playwright.config.ts'],
  },
]

export async function createProject({ files }: Project) {
  const repository = await createRepository({ '.gitignore': 'node_modules\ntest-results\nall\n', ...files })
  await installPackages(repository.folder)
  return repository
}

/** The reports lie in the folder `all`. */
export async function createShardedProject(project: ShardedProject) {
  const repository = await createProject(project)
  for (let index = 1; index <= SHARDS; index++) {
    const env = { ...process.env, PLAYWRIGHT_BLOB_OUTPUT_FILE: join(repository.folder, `all/report-${index}.zip`) }
    execFileSync(process.execPath, project.shard(index), { cwd: repository.folder, stdio: 'ignore', env })
  }
  return repository
}

export function timeByHand(folder: string, { command }: Project): number {
  const begunMs = performance.now()
  execFileSync(process.execPath, command, { cwd: folder, stdio: 'ignore', env: { ...process.env, CI: 'true' } })
  return performance.now() - begunMs
}

/** Both actions: the local service and the gate, each with its post step. */
export async function timeActions(
  workspace: string,
  ofService: Readonly<Record<string, string>> = {},
): Promise<number> {
  const begunMs = performance.now()
  await using service = prepareStep({ actionDir: join(ROOT, 'local-service'), workspace, inputs: ofService })
  const { conclusion, outputs, log } = await service.startMain().result()
  if (conclusion !== 'success') throw new Error(log.join('\n'))
  const { 'base-url': url = '', 'api-key': key = '', project = '', commit = '' } = outputs
  const inputs = { 'base-url': url, 'api-key': key, project, branch: commit }
  await using gate = prepareStep({ workspace, tempDir: service.tempDir, inputs })
  const { main } = await gate.run()
  if (main.conclusion !== 'success') throw new Error(main.log.join('\n'))
  await service.runPost()
  return performance.now() - begunMs
}
