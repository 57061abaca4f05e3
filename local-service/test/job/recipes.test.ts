import { cpSync, existsSync, globSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { describe, expect } from 'vitest'
import { read } from '../../../test/documents/documents.ts'
import { onPullRequest, REPOSITORY, startGitHubApi } from '../../../test/support/github-api.ts'
import { type JobOptions, type PlayedJob, playJob } from '../../../tools/runner-emulator/job-player/job.ts'
import { type Files, HANGING, type Jobs, ON_LINUX, PASSING, PLAYWRIGHT, test, VITEST } from '../support/a-job.ts'
import { processesThat } from '../support/a-local-service.ts'

// Plays the recipes with the local service. The tests of the projects really run.

const FOLDER = 'examples/workflows'
const ON_MAIN = { name: 'push', payload: { repository: REPOSITORY } }
const ON_PULL_REQUEST = onPullRequest()
const RED = "{ throw new Error('rain') }"

/** What `npm ci` and `playwright install` do was done before. `npx` starts what is installed, without the time that npm takes. */
const NPM = {
  npm: '#!/bin/sh\n',
  npx: `#!/bin/sh
test "$2" = install && exit
program="node_modules/.bin/$1"
shift
exec "$program" "$@"
`,
}

/** Plays a job of a recipe. The file may be a changed copy of one. */
function play(jobs: Jobs, file: string, workspace: string, { job = 'test-run', ...options }: Played = {}) {
  const path = isAbsolute(file) ? file : `${FOLDER}/${file}`
  return playJob(path, job, { workspace, commands: jobs.commands(NPM), ...options })
}

type Played = Partial<JobOptions> & { readonly job?: string }

/** The job has this result, and its log has this text. */
function expectEnd({ result, log }: PlayedJob, end: PlayedJob['result'], text: string | RegExp): void {
  expect(result, log).toBe(end)
  expect(log).toMatch(text)
}

/**
 * What GitHub does if a job that is run again uploads an artifact of the same name as in its first attempt. Both were seen in public
 * repositories: it refuses the upload with status 409, or a later download finds the older of both.
 */
type SecondUpload = 'is refused' | 'is not found'

/** A folder in place of GitHub's artifacts, for the steps of a job in this workspace. */
function artifactsFor(workspace: string, artifacts: string, secondUpload: SecondUpload = 'is refused') {
  const handle: NonNullable<JobOptions['otherAction']> = (uses, inputs) => {
    const { name = '', path = '', pattern = name, overwrite, 'merge-multiple': isMerged = `${name !== ''}` } = inputs
    if (uses.startsWith('actions/upload-artifact@')) {
      const artifact = join(artifacts, name)
      if (overwrite === 'true') rmSync(artifact, { recursive: true, force: true })
      else if (existsSync(artifact) && secondUpload === 'is refused') throw new Error(`409: There is ${name} already.`)
      else if (existsSync(artifact)) return 'success'
      // An artifact of one folder has the content of this folder, and other artifacts have the folders.
      const paths = path.trim().split('\n')
      for (const one of paths.filter((found) => existsSync(join(workspace, found))))
        cpSync(join(workspace, one), join(artifact, placeInArtifact(one, paths)), { recursive: true })
    }
    if (uses.startsWith('actions/download-artifact@')) {
      const names = globSync(pattern, { cwd: artifacts })
      if (names.length === 0 && name !== '') return 'failure'
      for (const found of names)
        cpSync(join(artifacts, found), join(workspace, path, isMerged === 'true' ? '' : found), { recursive: true })
    }
    return 'success'
  }
  return handle
}

function placeInArtifact(path: string, paths: readonly string[]): string {
  if (paths.length > 1) return path
  return path.endsWith('/') ? '' : basename(path)
}

/** Finds the gate of its job, and fails if the gate's environment has the job's token. */
const READING_THE_GATE = `import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
const environmentOf = (id) => {
  try { return readFileSync('/proc/' + id + '/environ', 'utf8').split('\\0') } catch { return [] }
}
test('reads the environment of the gate', () => {
  const environments = readdirSync('/proc').filter((name) => Number(name) > 0).map(environmentOf)
  const ofJob = environments.filter((one) => one.includes('GITHUB_WORKSPACE=' + process.cwd()))
  const gate = ofJob.find((one) => one.some((variable) => variable.startsWith('INPUT_API-KEY=')))
  expect(gate).toBeDefined()
  expect(gate.filter((variable) => variable.includes('ghs_'))).toEqual([])
})`

describe.concurrent('the recipe', () => {
  test('local-service.yml passes, and gives the gate no token, because a test can read it', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': ON_LINUX ? READING_THE_GATE : PASSING })
    expectEnd(await play(jobs, 'local-service.yml', folder), 'success', 'finished as PASSED: 1 passed.')
  })

  test('local-service.yml works in the background too: fails with the tests, cancels the run', async ({ jobs }) => {
    const { folder, write } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING.replace('{}', RED) })
    const text = read(`${FOLDER}/local-service.yml`)
      .replace(/(.*\/local-service@v1)\n/, '$1\n        id: service\n        background: true\n      - wait: service\n')
      .replace(/(- uses: OWNER\/test-run-action@v1)\n/, '$1\n        id: gate\n        background: true\n')
    const file = join(jobs.folder(), 'workflow.yml')
    writeFileSync(file, `${text}      - wait: gate\n`)
    const { result, log } = await play(jobs, file, folder)
    expect(result, log).toBe('failure')
    expect(log).toContain('1 of 1 test case failed')
    await write({ 'a.test.ts': HANGING })
    const cancelled = await play(jobs, file, folder, { interrupt: { during: 'gate', on: /RUNNING/, by: 'cancel' } })
    expect(cancelled.result, cancelled.log).toBe('cancelled')
    if (ON_LINUX) expect(processesThat((pid) => readlinkSync(`/proc/${pid}/cwd`) === folder)).toEqual([])
  })

  test('any-framework.yml passes and fails with the tests, and says why', async ({ jobs }) => {
    const testFile = (body: string) => ({
      'cart.test.mjs': `import { test } from 'node:test'\ntest('adds', () => ${body})`,
    })
    const { folder, write } = await jobs.project(testFile('{}'))
    const passed = await play(jobs, 'any-framework.yml', folder)
    expectEnd(passed, 'success', 'finished as PASSED: 1 passed.')
    await write(testFile(RED))
    expectEnd(await play(jobs, 'any-framework.yml', folder), 'failure', /^##\[error\]adds\nrain$/m)
  })

  test('behind-a-step.yml reports what an earlier step has found, and runs no test again', async ({ jobs }) => {
    const { folder, write } = await jobs.repository({ 'package.json': '{}' })
    const playWith = async (body: string) => {
      await write({
        'cart.test.mjs': `import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
appendFileSync('runs.txt', '.')
test('adds', () => ${body})`,
      })
      return play(jobs, 'behind-a-step.yml', folder)
    }
    const failed = await playWith(RED)
    expectEnd(failed, 'failure', /^##\[error\]adds\nrain$/m)
    expect(failed.log).toContain('finished as FAILED: 1 of 1 test case failed')
    const passed = await playWith('{}')
    expectEnd(passed, 'success', 'finished as PASSED: 1 passed.')
    expect(readFileSync(join(folder, 'runs.txt'), 'utf8')).toBe('..')
  })

  test('two-packages.yml tests both packages, also if one fails, and fails with it', async ({ jobs }) => {
    const { folder } = await jobs.project({
      'package.json': '{ "workspaces": ["packages/*"] }',
      'packages/shop/package.json': VITEST['package.json'],
      'packages/shop/a.test.ts': PASSING.replace('{}', RED),
      'packages/e2e/package.json': PLAYWRIGHT['package.json'],
      'packages/e2e/a.spec.ts': PASSING.replace('vitest', '@playwright/test').replace('adds', 'pays'),
    })
    const verdicts = (log: string) => log.match(/(?<=finished as )\w+: .*$/gm)
    const failed = await play(jobs, 'two-packages.yml', folder)
    expect(failed.result, failed.log).toBe('failure')
    expect(verdicts(failed.log)).toEqual([expect.stringMatching(/^FAILED: 1 of 1 .*adds/), 'PASSED: 1 passed.'])
  })

  test('traces.yml keeps the files of failed tests by the paths that the gate names', async ({ jobs }) => {
    const { folder } = await jobs.project({
      ...PLAYWRIGHT,
      'a.spec.ts': `import { test } from '@playwright/test'
import { writeFileSync } from 'node:fs'
test('pays', ({}, info) => {
  writeFileSync(info.outputPath('trace.zip'), 'kept')
  info.attachments.push({ name: 'trace', path: info.outputPath('trace.zip'), contentType: 'application/zip' })
  throw new Error('rain')
})`,
    })
    const artifacts = jobs.folder()
    const { result, log } = await play(jobs, 'traces.yml', folder, { otherAction: artifactsFor(folder, artifacts) })
    expect(result, log).toBe('failure')
    expect(log).toContain('finished as FAILED: 1 of 1 test case failed')
    const kept = join(artifacts, 'playwright-report')
    const [trace = ''] = globSync('test-results/*/trace.zip', { cwd: kept })
    expect(log).toContain(trace)
    expect(readFileSync(join(kept, trace), 'utf8')).toBe('kept')
    expect(existsSync(join(kept, 'playwright-report/index.html'))).toBe(true)
  })

  test('comment.yml comments with links to lines, from the JUnit file of another job', async ({
    jobs,
    onTestFinished,
  }) => {
    const api = await startGitHubApi()
    onTestFinished(() => api.close())
    const file = `${PASSING}
test('ships', () => ${RED})
let tries = 0
test('pays', { retry: 1 }, () => { if (tries++ === 0) throw new Error('no money') })`
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': file })
    const artifacts = jobs.folder()
    const playIn = (workspace: string, options: Played) => {
      const handleArtifact = artifactsFor(workspace, artifacts)
      const otherAction: typeof handleArtifact = (uses, inputs) => {
        if (uses.startsWith('actions/checkout@')) writeFileSync(join(workspace, 'a.test.ts'), file)
        return handleArtifact(uses, inputs)
      }
      return play(jobs, 'comment.yml', workspace, { event: ON_PULL_REQUEST, otherAction, ...options })
    }
    const tested = await playIn(folder, {})
    expect(tested.result, tested.log).toBe('failure')
    const github = { api_url: api.url }
    const ofComment = await jobs.repository({ 'a.test.ts': file })
    const { result, log } = await playIn(ofComment.folder, { job: 'comment', needs: { 'test-run': tested }, github })
    // Only the check "test-run" is required. The comment's job says the same.
    expect(result, log).toBe('failure')
    const body = expect.stringMatching(
      /Tests failed: 1 of 3[\s\S]*2 passed \(1 flaky\)[\s\S]*ships[\s\S]*a\.test\.ts#L3/,
    )
    expect(api.comments, log).toMatchObject([{ body }])
    expect(log).toContain('rain')
    // The next commit breaks a step before the gate, so there is no report.
    const workspace = jobs.folder()
    cpSync(join(folder, 'test-reports'), join(workspace, 'test-reports'), { recursive: true })
    const otherAction = artifactsFor(workspace, jobs.folder())
    const options = { event: ON_PULL_REQUEST, otherAction, needs: { 'test-run': tested }, github }
    const without = await play(jobs, 'comment.yml', workspace, { job: 'comment', ...options })
    expect(without.result, without.log).toBe('failure')
    expect(api.comments.at(-1), without.log).toMatchObject({ body: expect.stringContaining('Run interrupted') })
  })

  test('matrix.yml names the version, and its check fails unless all jobs have passed', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const options = { job: 'tests', contexts: { matrix: { node: 22 } } }
    const { result, log, summary } = await play(jobs, 'matrix.yml', folder, options)
    expect(result, log).toBe('success')
    expect(summary).toMatch(/^## ✅ Tests passed: 1 of 1 · .*22/)
    for (const ofJobs of ['success', 'failure', 'cancelled'] as const) {
      const check = await play(jobs, 'matrix.yml', folder, { needs: { tests: { result: ofJobs } } })
      expect(check.result).toBe(ofJobs === 'success' ? 'success' : 'failure')
    }
  })

  test('quarantine.yml requires only the tests without the tag, and runs the others too', async ({ jobs }) => {
    const { folder } = await jobs.project({
      ...VITEST,
      'vitest.config.ts': "export default { test: { tags: [{ name: 'quarantine' }] } }",
      'a.test.ts': `${PASSING}\ntest('pays', { tags: ['quarantine'] }, () => ${RED})`,
    })
    expectEnd(await play(jobs, 'quarantine.yml', folder), 'success', 'finished as PASSED: 1 passed, 1 skipped.')
    expectEnd(
      await play(jobs, 'quarantine.yml', folder, { job: 'quarantine' }),
      'failure',
      'finished as FAILED: 1 of 2 test cases failed (“pays” at a.test.ts:3).',
    )
  })

  test('affected.yml runs the tests that a pull request affects, and all in the merge queue', async ({ jobs }) => {
    const testOf = (file: string) => `import { test } from 'vitest'\nimport './${file}'\ntest('${file}', () => {})`
    const { folder, git, commit } = await jobs.project({
      ...VITEST,
      'cart.ts': '1',
      'money.ts': '1',
      'cart.test.ts': testOf('cart.ts'),
      'money.test.ts': testOf('money.ts'),
    })
    // What a checkout has: a merge of the change with the base branch, which has gone on.
    await git('switch', '--quiet', '--create', 'change')
    await commit({ 'cart.ts': '2' })
    await git('switch', '--quiet', 'main')
    await commit({ 'money.ts': '2' })
    await git('merge', '--quiet', '--no-ff', 'change')
    const affected = await play(jobs, 'affected.yml', folder, { event: ON_PULL_REQUEST })
    expectEnd(affected, 'success', 'finished as PASSED: 1 passed.')
    const queued = await play(jobs, 'affected.yml', folder, { event: { name: 'merge_group' } })
    expect(queued.log).toContain('finished as PASSED: 2 passed.')
    // A change that affects no test.
    await git('checkout', '--quiet', 'HEAD^1')
    await commit({ 'notes.md': '1' })
    const none = await play(jobs, 'affected.yml', folder, { event: ON_PULL_REQUEST })
    expect(none.result, none.log).toBe('success')
  })

  test('coverage.yml gives the Cobertura file to the job that uploads it', async ({ jobs }) => {
    // In place of @vitest/coverage-v8, which is not installed here.
    const provider = `import { mkdirSync, writeFileSync } from 'node:fs'
const provider = {
  name: 'custom', initialize(vitest) { this.options = vitest.config.coverage }, resolveOptions() { return this.options },
  clean() {}, onAfterSuiteRun() {}, generateCoverage: () => ({}),
  reportCoverage() {
    mkdirSync('coverage')
    for (const [name] of this.options.reporter) writeFileSync('coverage/' + name + '-coverage.xml', '<coverage/>')
  },
}
export default { getProvider: () => provider, startCoverage() {}, takeCoverage() {}, stopCoverage() {} }`
    const { folder } = await jobs.project({
      ...VITEST,
      'vitest.config.ts': `export default { test: { coverage: { provider: 'custom', customProviderModule: './provider.js' } } }`,
      'provider.js': provider,
      'a.test.ts': PASSING,
    })
    const artifacts = jobs.folder()
    const tested = await play(jobs, 'coverage.yml', folder, { otherAction: artifactsFor(folder, artifacts) })
    expect(tested.result, tested.log).toBe('success')
    const workspace = jobs.folder()
    const uploaded: string[] = []
    const handleArtifact = artifactsFor(workspace, artifacts)
    const otherAction: typeof handleArtifact = (uses, inputs) => {
      if (uses.startsWith('actions/upload-code-coverage@'))
        uploaded.push(readFileSync(join(workspace, inputs.file ?? ''), 'utf8'))
      return handleArtifact(uses, inputs)
    }
    const options = { job: 'coverage', needs: { 'test-run': tested }, otherAction }
    const { result } = await play(jobs, 'coverage.yml', workspace, { event: ON_PULL_REQUEST, ...options })
    expect([result, uploaded]).toEqual(['success', ['<coverage/>']])
  })

  test('several-systems.yml has one report of all systems, and names the system of a failure', async ({ jobs }) => {
    const fails = "{ if (process.env.VITEST_BLOB_LABEL === 'windows-latest') throw new Error('rain') }"
    const { folder, git } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING.replace('{}', fails) })
    const otherAction = artifactsFor(folder, jobs.folder())
    const results: string[] = []
    for (const system of ['ubuntu-latest', 'windows-latest']) {
      const options = { job: 'tests', otherAction, contexts: { matrix: { system } } }
      const { result } = await play(jobs, 'several-systems.yml', folder, options)
      results.push(result)
      await git('clean', '--quiet', '-dfx', '--exclude=node_modules')
    }
    expect(results).toEqual(['success', 'failure'])
    const needs = { tests: { result: 'failure' } } as const
    expectEnd(
      await play(jobs, 'several-systems.yml', folder, { otherAction, needs }),
      'failure',
      'finished as FAILED: 1 of 2 test cases failed (“[windows-latest] > adds” at a.test.ts:2).',
    )
  })

  // The recipe has the options of GNU's commands, as GitHub's Linux machines do.
  test.skipIf(!ON_LINUX)(
    'baseline.yml says which failures are new, and keeps ten runs of the main branch',
    async ({ jobs }) => {
      const { folder, git, write } = await jobs.project(VITEST)
      const cache = jobs.folder()
      const baseline = join(folder, 'baseline')
      // So another workflow, or another job of this one, has a baseline of its own.
      const PREFIX = 'baseline/Tests with a baseline/test-run/'
      /** Plays the job for a project with such failures. Each cache is a folder of its own, with the run's id as its name. */
      async function playOn(event: typeof ON_MAIN, run_id: string, failing: readonly string[]) {
        const test = (title: string) => `test('${title}', () => ${failing.includes(title) ? RED : '{}'})`
        const tests = ['adds', 'pays', 'ships'].map(test).join('\n')
        await git('clean', '--quiet', '-dfx', '--exclude=node_modules')
        await write({ 'a.test.ts': `import { test } from 'vitest'\n${tests}` })
        const otherAction = (uses: string, inputs: Readonly<Record<string, string>>) => {
          const { path = '', key = '', 'restore-keys': restored = '' } = inputs
          if (uses.startsWith('actions/cache/save@'))
            cpSync(join(folder, path), join(cache, key.replace(PREFIX, '')), { recursive: true })
          if (!uses.startsWith('actions/cache/restore@')) return
          expect(restored).toBe(PREFIX)
          const newest = readdirSync(cache).toSorted().at(-1)
          if (newest !== undefined) cpSync(join(cache, newest), join(folder, path), { recursive: true })
        }
        const { result, log } = await play(jobs, 'baseline.yml', folder, { event, otherAction, github: { run_id } })
        expect(result, log).toBe('failure')
        return { log, verdict: /finished as \w+: (.*)$/m.exec(log)?.[1] }
      }

      const first = await playOn(ON_MAIN, '100', ['pays'])
      expect(first.verdict).toBe('1 of 3 test cases failed (“pays” at a.test.ts:3).')
      expect(readdirSync(cache)).toEqual(['100-1'])
      // Nine older runs. Their ids have one digit or two.
      for (const id of [2, 3, 4, 5, 6, 7, 8, 9, 10])
        cpSync(join(cache, '100-1/100-1.json'), join(cache, `100-1/${id}-1.json`))
      const second = await playOn(ON_MAIN, '101', ['pays'])
      expect(second.verdict, second.log).toBe('1 of 3 test cases failed (“pays” at a.test.ts:3), none new.')
      const kept = [3, 4, 5, 6, 7, 8, 9, 10, 100, 101].map((id) => `${id}-1.json`)
      expect(readdirSync(join(cache, '101-1')).toSorted()).toEqual(kept.toSorted())

      const { log, verdict } = await playOn(ON_PULL_REQUEST, '102', ['pays', 'ships'])
      expect(verdict, log).toBe('2 of 3 test cases failed (“ships” at a.test.ts:4, “pays” at a.test.ts:3), 1 new.')
      expect(log).not.toContain('There is no baseline')
      // A pull request cannot change the cache of the main branch.
      expect(readdirSync(cache)).toEqual(['100-1', '101-1'])
      expect(readdirSync(baseline)).toHaveLength(10)
    },
  )
})

describe.concurrent('a recipe for shards', () => {
  const PROJECTS = {
    'sharded-playwright.yml': PLAYWRIGHT,
    'sharded-vitest.yml': {
      ...VITEST,
      'vitest.config.ts': `export default { test: { globalSetup: './teardown.ts' } }`,
      // If there is the file `broken`, the framework fails after it has written its report.
      'teardown.ts': `import { existsSync } from 'node:fs'
export const teardown = () => { if (existsSync('broken')) process.on('exit', () => { process.exitCode = 7 }) }`,
    },
  }
  const withoutCommands = (recipe: string) =>
    read(`${FOLDER}/${recipe}`)
      .split('\n')
      .filter((line) => !/^#|^name:|- run: npx/.test(line))
  const REST = /::error::The jobs of the shards ended as failure, but no test failed\./

  test.for([
    ['sharded-playwright.yml', '@playwright/test'],
    ['sharded-vitest.yml', 'vitest'],
  ] as const)('%s: one gate has the tests of all shards, and is green only if all shards are', async ([
    recipe,
    framework,
  ], { jobs }) => {
    const testFile = (title: string, body = '{}') => ({
      [`${title}.test.ts`]: `import { test } from '${framework}'\ntest('${title}', () => ${body})`,
    })
    const tests = { ...testFile('adds'), ...testFile('pays'), ...testFile('ships', RED), ...testFile('sorts') }
    const { folder, git, write } = await jobs.project({ ...PROJECTS[recipe], ...tests })
    const artifacts = jobs.folder()
    const played = new Map<number, PlayedJob>()
    // Each job has the files of a new checkout. All jobs have the same path, as on GitHub's runners.
    const checkOut = () => git('clean', '--quiet', '-dfx', '--exclude=node_modules')
    async function playShard(shard: number, secondUpload: SecondUpload, untracked: Files = {}) {
      await checkOut()
      await write(untracked)
      const otherAction = artifactsFor(folder, artifacts, secondUpload)
      const job = await play(jobs, recipe, folder, { job: 'tests', otherAction, contexts: { matrix: { shard } } })
      played.set(shard, job)
      return job
    }
    async function merge() {
      await checkOut()
      const ends = [...played.values()].map(({ result }) => result)
      const result = ends.every((end) => end === 'success') ? 'success' : 'failure'
      return play(jobs, recipe, folder, { otherAction: artifactsFor(folder, artifacts), needs: { tests: { result } } })
    }

    // One test fails in its shard.
    for (const shard of [1, 2, 3, 4]) await playShard(shard, 'is refused')
    const [red = 0, ...others] = [...played].filter(([, { result }]) => result === 'failure').map(([shard]) => shard)
    expect(others, [...played.values()].map(({ log }) => log).join('\n')).toEqual([])
    if (framework === '@playwright/test') {
      const failed = await merge()
      expectEnd(failed, 'failure', 'finished as FAILED: 1 of 4 test cases failed (“ships” at ships.test.ts:2).')
      expect(failed.log).toMatch(/^##\[error\].*ships.*\n.*rain/m)
      expect(failed.log).not.toMatch(REST)
      // All that follows is the same in both recipes.
      expect(withoutCommands(recipe)).toEqual(withoutCommands('sharded-vitest.yml'))
      return
    }

    // "Re-run failed jobs" runs this shard again. All are green.
    await write(testFile('ships'))
    const mended = await playShard(red, 'is not found')
    expect(mended.result, mended.log).toBe('success')
    const passed = await merge()
    expectEnd(passed, 'success', 'finished as PASSED: 4 passed.')
    expect(passed.log).not.toMatch(REST)

    // A shard fails with a reason that its report does not have.
    const broken = await playShard(red, 'is refused', { broken: '' })
    expectEnd(broken, 'failure', 'exit code 7')
    const rest = await merge()
    expectEnd(rest, 'failure', 'finished as PASSED: 4 passed.')
    expect(rest.log).toMatch(REST)
  })
})
