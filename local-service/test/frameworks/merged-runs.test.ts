import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { comparePast } from '../../../src/model/baseline.ts'
import { decodeRun } from '../../../src/service/decode.ts'
import { executeRun } from '../../src/execution/execute.ts'
import {
  folderWith,
  PLAIN_ENV,
  projectFolder,
  runContextIn,
  startService,
  temporaryFolder,
} from '../support/a-local-service.ts'

// The shards really run, by hand, and the service merges what they leave.

interface Framework {
  readonly name: string
  readonly version?: 'vitest-3' | 'vitest-4' | 'vitest-5'
  readonly files: Readonly<Record<string, string>>
  /** The command of a shard, as people type it. */
  readonly shard: (index: number, total: number) => readonly string[]
  /** The report of the second of two shards. */
  readonly second: string
}

const inVitest = (body: string) =>
  `import { beforeAll, describe, expect, test } from 'vitest'\nimport { existsSync, writeFileSync } from 'node:fs'\n${body}`
const inPlaywright = (body: string) =>
  inVitest(body)
    .replace(/^.*/, "import { expect, test } from '@playwright/test'")
    .replace("'node:fs'", "'node:fs'; const { beforeAll, describe } = test")
const FAILS =
  "() => { throw new Error('no money', { cause: new TypeError('no card', { cause: new RangeError('no digits') }) }) }"
/** 20 files. Three tests fail, two of them for a cause that has a cause. One is flaky, one is skipped. */
const bodies = (retry: string, before = '') => ({
  adds: "test('adds', () => {})",
  ships: "test('ships', () => { expect('rain').toBe('sun') })",
  pays: `${before}test('pays'${retry}, () => { if (!existsSync('paid')) { writeFileSync('paid', ''); throw new Error('no') } })`,
  returns: "test.skip('returns', () => {})",
  charges: `test('charges', ${FAILS})`,
  orders: `describe('orders', () => { beforeAll(${FAILS}); test('wait', () => {}) })`,
  ...Object.fromEntries(
    Array.from({ length: 14 }, (_, index) => [
      `more-${index}`,
      `test('adds', () => {})\ntest('sums ${index}', () => {})`,
    ]),
  ),
})
const filesOf = (ending: string, write: (body: string) => string, all: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(all).map(([name, body]) => [`e2e/${name}${ending}`, write(body)]))

const ofVitest = (version: NonNullable<Framework['version']>): Framework => ({
  name: version,
  version,
  files: {
    'package.json': '{ "type": "module", "devDependencies": { "vitest": "*" } }',
    // Otherwise, each file would cost a process. A merge ignores the reporter, with which Vitest would refuse to merge.
    'vitest.config.js': "export default { test: { isolate: false, maxWorkers: 1, reporters: ['default', 'blob'] } }",
    ...filesOf('.test.js', inVitest, bodies(', { retry: 1 }')),
  },
  second: 'blob-2-2.json',
  shard: (index, total) => [
    'vitest/vitest.mjs',
    'run',
    `--shard=${index}/${total}`,
    '--reporter=default',
    '--reporter=blob',
    `--outputFile=all/blob-${index}-${total}.json`,
  ],
})

const PLAYWRIGHT: Framework = {
  name: 'Playwright',
  files: {
    'package.json': '{ "type": "module", "devDependencies": { "@playwright/test": "*" } }',
    'playwright.config.js':
      "export default { testDir: 'e2e', reporter: [['list'], ['junit', { outputFile: 'junit.xml', includeRetries: true }]], workers: 1 }",
    ...filesOf('.spec.js', inPlaywright, bodies('', 'test.describe.configure({ retries: 1 }); ')),
  },
  second: 'report-e2e-2.zip',
  shard: (index, total) => [
    '@playwright/test/cli.js',
    'test',
    '--forbid-only',
    `--shard=${index}/${total}`,
    '--reporter=list,blob,junit',
  ],
}

/** A project whose shards have run. Their reports lie in the folder `all`. */
async function aProject({ files, version, shard }: Framework, total = 2) {
  const folder = await projectFolder(files, version)
  const runShard = async (index: number) => {
    const [script = '', ...args] = shard(index, total)
    const argv = [join(folder, 'node_modules', script), ...args]
    const env = {
      ...PLAIN_ENV,
      PLAYWRIGHT_BLOB_OUTPUT_FILE: join(folder, `all/report-e2e-${index}.zip`),
      PLAYWRIGHT_JUNIT_OUTPUT_FILE: join(folder, `all/${index}.xml`),
      PLAYWRIGHT_JUNIT_INCLUDE_RETRIES: '1',
      // Shards with one cache can read translated code before its source map is written.
      PWTEST_CACHE_DIR: join(folder, `cache-${index}`),
    }
    await once(spawn(process.execPath, argv, { cwd: folder, env, stdio: 'ignore' }), 'close')
  }
  const run = (settings: object) => executeRun(runContextIn(folder, {}, { folder, ...settings }), () => {})
  return { folder, runShard, run, merge: (settings: object = {}) => run({ merge: 'all', ...settings }) }
}

/** How many failures of a run are new for the gate, if another run is its baseline. */
function countNew(run: Results, baseline?: Results): number {
  const casesOf = ({ status, testCases }: Results) =>
    decodeRun({ status, results: { testCases } }, '', (text) => text).testCases ?? []
  const past = comparePast(casesOf(run), [{ status: 'FAILED', testCases: baseline ? casesOf(baseline) : [] }])
  return [...past.values()].filter(({ mark }) => mark === 'new').length
}

/** What two runs of the same tests have in common. */
function factsOf({ testCases, ...others }: Results) {
  return { ...others, testCases: testCases.map(({ durationMs: _, ...facts }) => facts) }
}

type Results = Awaited<ReturnType<typeof executeRun>>

/** Playwright's JUnit reporter has written a file for each shard, and one for the whole. */
async function expectSameOfJunitFiles(folder: string, run: (settings: object) => Promise<Results>) {
  const read = (report: string) => run({ report })
  const [ofJobs, ofWhole] = [await read('all/*.xml'), await read('junit.xml')]
  // Of several reports, each failure names its own.
  const cases = ofJobs.testCases.map(({ message, ...one }) => ({
    ...one,
    message: message?.replace(/\n\nin all\/\d\.xml$/, ''),
  }))
  expect(factsOf({ ...ofJobs, testCases: cases })).toEqual(factsOf(ofWhole))
  expect(ofJobs.testCases.filter(({ status }) => status === 'FLAKY')).toHaveLength(1)
  expect([countNew(ofJobs, ofWhole), countNew(ofJobs)]).toEqual([0, 3])
  await rm(join(folder, 'all/2.xml'))
  expect(await read('all/1.xml\nall/2.xml')).toMatchObject({
    status: 'FAILED',
    message: expect.stringContaining('matches "all/2.xml". '),
  })
}

/** All versions of Vitest say the same about the tests. */
function runVitestOnce(run: (settings: object) => Promise<Results>): Promise<Results> {
  wholeOfVitest ??= run({})
  return wholeOfVitest
}
let wholeOfVitest: Promise<Results> | undefined

const VITEST = (['vitest-5', 'vitest-4', 'vitest-3'] as const).map(ofVitest)

it.each([
  ...VITEST,
  PLAYWRIGHT,
])('20 files in two shards of $name are merged to what a run without shards has, and without a shard the run fails', async (framework) => {
  const { folder, runShard, run, merge } = await aProject(framework)
  await Promise.all([runShard(1), runShard(2)])
  const second = join(folder, 'all', framework.second)
  // Shards may have run in a folder with another path, such as in a container.
  if (framework.version !== undefined)
    await writeFile(second, (await readFile(second, 'utf8')).replaceAll(folder, '/__w/shop/shop'))
  const merged = await merge()
  await rm(join(folder, 'paid'))
  const whole = await (framework.version === undefined ? run({}) : runVitestOnce(run))
  expect(factsOf(merged)).toEqual(factsOf(whole))
  expect(merged).toMatchObject({ status: 'FAILED', message: undefined })
  const bad = merged.testCases.filter(({ status }) => status !== 'PASSED' && status !== 'SKIPPED')
  expect(bad.map(({ status }) => status).sort()).toEqual(['FAILED', 'FAILED', 'FAILED', 'FLAKY'])
  expect([countNew(merged, whole), countNew(merged)]).toEqual([0, 3])

  if (framework.version === undefined) await expectSameOfJunitFiles(folder, run)

  // The versions of Vitest name the shards alike.
  if (framework.version === 'vitest-3' || framework.version === 'vitest-4') return
  await rm(second)
  const part = await merge()
  expect(part).toMatchObject({ status: 'FAILED', message: expect.stringContaining('Shard 2/2 is missing beside ') })
  expect(part.testCases.length).toBeLessThan(whole.testCases.length)
})

describe('a merge of Playwright', () => {
  it('may have a command with a configuration, which holds', async () => {
    const files = {
      'playwright.config.js': "throw new Error('not this one')",
      'ci.config.js': 'export default {}',
      'a.spec.js': inPlaywright("test('adds', () => {})"),
    }
    const shard = () => ['@playwright/test/cli.js', 'test', '--config=ci.config.js', '--reporter=blob']
    const { runShard, merge } = await aProject({ ...PLAYWRIGHT, files, shard }, 1)
    await runShard(1)
    const merged = await merge({
      command: 'npx playwright merge-reports -cci.config.js',
      framework: 'playwright',
    })
    expect(merged).toMatchObject({ status: 'PASSED', testCases: [{ title: 'adds' }] })
  })

  it('fails if the status of the whole is not passed, although each test passed and the command exits with 0', async () => {
    const files = {
      'package.json': '{ "type": "module" }',
      'playwright.config.js': "export default { testDir: 'e2e', globalTeardown: './teardown.js' }",
      'teardown.js': "export default () => { throw new Error('the database is still there') }",
      ...filesOf('.spec.js', inPlaywright, { adds: "test('adds', () => {})" }),
    }
    const project = await aProject({ ...PLAYWRIGHT, files }, 1)
    await project.runShard(1)
    const { status, message } = await project.merge()
    expect([status, message]).toEqual([
      'FAILED',
      'playwright merge-reports reported an error outside the tests: Error: the database is still there\nat teardown.js:1\nA shard reported an error.',
    ])
  })
})

describe('JUnit files without a command', () => {
  const suite = (...cases: readonly string[]) => `<testsuite name="shop">${cases.join('')}</testsuite>`
  const run = async (files: Readonly<Record<string, string>>, report = 'reports/*.xml') => {
    const folder = await folderWith(files)
    const settings = { folder, report }
    return executeRun(runContextIn(folder, {}, settings), () => {})
  }

  it('are read as they are, also if they are old, and their failed cases decide', async () => {
    const adds = '<testcase name="adds"/>'
    const ships = '<testcase name="ships"><failure message="rain"/></testcase>'
    const testCases = [{ title: 'shop > adds' }]
    // Two lines may name one file.
    const ofOne = await run({ 'reports/1.xml': suite(adds) }, 'reports/1.xml\nreports/*.xml')
    expect(ofOne).toMatchObject({ status: 'PASSED', testCases })
    expect(await run({ 'reports/1.xml': suite(adds), 'reports/2.xml': suite(ships) })).toMatchObject({
      status: 'FAILED',
      testCases: [
        { status: 'PASSED' },
        { title: 'shop > ships', status: 'FAILED', message: 'rain\n\nin reports/2.xml' },
      ],
    })
  })

  it('nobody knows how their command ended, so a second case of the same name is no attempt', async () => {
    const twice = suite('<testcase name="adds"><failure/></testcase>', '<testcase name="adds"/>')
    expect(await run({ 'reports/1.xml': twice })).toMatchObject({ status: 'FAILED' })
  })

  it.each([
    ['reports/1.xml\nreports/2.xml\nreports/[3].xml', '"reports/2.xml" or "reports/[3].xml"', 1],
    ['e2e/*.xml', '"e2e/*.xml"', 0],
  ])('interrupt the run if a line has no file, and keep what was read: %j', async (report, missing, cases) => {
    const { status, message, testCases } = await run({ 'reports/1.xml': suite('<testcase name="adds"/>') }, report)
    expect([status, testCases.length]).toEqual(['INTERRUPTED', cases])
    expect(message).toBe(
      `No file in the project's folder matches ${missing}. Look at the step or the job that should have written it: it may have been cancelled, or may have failed before.`,
    )
  })
})

it.each([
  [{ framework: 'vitest', merge: 'all', command: ['vitest'] }],
  [{ report: 'a.xml' }],
])('a request that selects framework projects is refused by %j', async (settings) => {
  const service = await startService({ projects: { shop: { folder: temporaryFolder(), ...settings } } })
  const error =
    'Project "shop" only reads reports, so nothing can select tests. Leave out the gate\'s input framework-project, or the selection of the suite: "unit".'
  expect(await service.start({ frameworkProjectName: 'unit' })).toEqual({ status: 400, body: { error } })
})
