import { cpSync, existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { read } from '../../../test/documents/documents.ts'
import { ACTIONS_BOT, startGitHubApi } from '../../../test/support/github-api.ts'
import { type JobOptions, type PlayedJob, playJob } from '../../../tools/runner-emulator/job-player/job.ts'
import { type Files, type Jobs, ON_LINUX, PASSING, PLAYWRIGHT, test, VITEST } from '../support/a-job.ts'

// Plays the recipes with the local service. The tests of the projects really run.

const FOLDER = 'examples/workflows'
const GITHUB_REPOSITORY = { id: 1, full_name: 'octo-org/web-shop', default_branch: 'main' }
const ON_MAIN = { name: 'push', payload: { repository: GITHUB_REPOSITORY } }
const ON_PULL_REQUEST = {
  name: 'pull_request',
  payload: {
    action: 'synchronize',
    number: 7,
    repository: GITHUB_REPOSITORY,
    pull_request: {
      number: 7,
      head: { ref: 'change', sha: 'c'.repeat(40), repo: GITHUB_REPOSITORY },
      base: { ref: 'main', repo: GITHUB_REPOSITORY },
    },
  },
}
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

/** A folder with these commands, which the scripts of a job find before all others. */
function commands(jobs: Jobs, scripts: Files): string {
  const folder = jobs.folder()
  for (const [name, script] of Object.entries(scripts)) writeFileSync(join(folder, name), script, { mode: 0o755 })
  return folder
}

/** A folder in place of GitHub's artifacts, for the steps of a job in this workspace. */
function artifactsFor(workspace: string, artifacts: string): NonNullable<JobOptions['otherAction']> {
  return (uses, { name = '', path = '', pattern = name, 'merge-multiple': isMerged = `${name !== ''}` }) => {
    if (uses.startsWith('actions/upload-artifact@')) {
      if (existsSync(join(artifacts, name))) throw new Error(`There is an artifact ${name} already.`)
      // An artifact of one folder has the content of this folder, and other artifacts have the folders.
      const paths = path.trim().split('\n')
      for (const one of paths.filter((found) => existsSync(join(workspace, found))))
        cpSync(join(workspace, one), join(artifacts, name, paths.length === 1 ? '' : one), { recursive: true })
    }
    if (uses.startsWith('actions/download-artifact@')) {
      for (const found of globSync(pattern, { cwd: artifacts }))
        cpSync(join(artifacts, found), join(workspace, path, isMerged === 'true' ? '' : found), { recursive: true })
    }
  }
}

describe.concurrent('the recipe any-framework.yml', () => {
  const RECIPE = `${FOLDER}/any-framework.yml`
  const files = (text: string) => ({
    'cart.test.mjs': `import { test } from 'node:test'\ntest('adds', () => { ${text} })`,
  })

  test('passes with the tests', async ({ jobs }) => {
    const { folder } = await jobs.project(files(''))
    const { result, log } = await playJob(RECIPE, 'test-run', { workspace: folder, commands: commands(jobs, NPM) })
    expect(result, log).toBe('success')
    expect(log).toContain('finished as PASSED: 1 passed.')
  })

  test('fails with the tests, says why, and does not take the old report for a new one', async ({ jobs }) => {
    const { folder } = await jobs.project(files("throw new Error('rain')"))
    const play = (file: string) => playJob(file, 'test-run', { workspace: folder, commands: commands(jobs, NPM) })
    const { result, log } = await play(RECIPE)
    expect(result, log).toBe('failure')
    expect(log).toMatch(/^##\[error\]adds\nrain$/m)
    // A command that succeeds and writes nothing.
    const file = join(jobs.folder(), 'workflow.yml')
    writeFileSync(file, read(RECIPE).replace(/^( +)node$/m, '$1true'))
    const old = await play(file)
    expect(old.result, old.log).toBe('failure')
    expect(old.log).toContain('what matches "junit.xml" is older than this run')
  })
})

describe.concurrent('the recipe behind-a-step.yml', () => {
  const RECIPE = `${FOLDER}/behind-a-step.yml`

  test('reports what an earlier step has found, and runs no test again', async ({ jobs }) => {
    const { folder, write } = await jobs.repository({ 'package.json': '{}' })
    const play = async (body: string) => {
      await write({
        'cart.test.mjs': `import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
appendFileSync('runs.txt', '.')
test('adds', () => ${body})`,
      })
      return playJob(RECIPE, 'test-run', { workspace: folder, commands: commands(jobs, NPM) })
    }
    const failed = await play(RED)
    expect(failed.result, failed.log).toBe('failure')
    expect(failed.log).toMatch(/^##\[error\]adds\nrain$/m)
    expect(failed.log).toContain('finished as FAILED: 1 of 1 test case failed')
    const passed = await play('{}')
    expect(passed.result, passed.log).toBe('success')
    expect(passed.log).toContain('finished as PASSED: 1 passed.')
    expect(readFileSync(join(folder, 'runs.txt'), 'utf8')).toBe('..')
  })
})

describe.concurrent('the recipe two-packages.yml', () => {
  const RECIPE = `${FOLDER}/two-packages.yml`
  const pays = PASSING.replace('vitest', '@playwright/test').replace('adds', 'pays')

  test('tests both packages, also if the unit tests fail, and passes only if both pass', async ({ jobs }) => {
    const { folder, write } = await jobs.project({
      'package.json': '{ "workspaces": ["packages/*"] }',
      'packages/shop/package.json': VITEST['package.json'],
      'packages/shop/a.test.ts': PASSING.replace('{}', RED),
      'packages/e2e/package.json': PLAYWRIGHT['package.json'],
      'packages/e2e/a.spec.ts': pays,
    })
    const play = () => playJob(RECIPE, 'test-run', { workspace: folder, commands: commands(jobs, NPM) })
    const verdicts = (log: string) => log.match(/(?<=finished as )\w+: .*$/gm)
    const failed = await play()
    expect(failed.result, failed.log).toBe('failure')
    expect(verdicts(failed.log)).toEqual([expect.stringMatching(/^FAILED: 1 of 1 .*adds/), 'PASSED: 1 passed.'])
    await write({ 'packages/shop/a.test.ts': PASSING })
    const passed = await play()
    expect(passed.result, passed.log).toBe('success')
    expect(verdicts(passed.log)).toEqual(['PASSED: 1 passed.', 'PASSED: 1 passed.'])
  })
})

describe.concurrent('the recipe traces.yml', () => {
  test('keeps the files of the failed tests by the paths that the gate names', async ({ jobs }) => {
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
    const { result, log } = await playJob(`${FOLDER}/traces.yml`, 'test-run', {
      workspace: folder,
      commands: commands(jobs, NPM),
      otherAction: artifactsFor(folder, artifacts),
    })
    expect(result, log).toBe('failure')
    expect(log).toContain('finished as FAILED: 1 of 1 test case failed')
    const kept = join(artifacts, 'playwright-report')
    const [trace = ''] = globSync('test-results/*/trace.zip', { cwd: kept })
    expect(log).toContain(trace)
    expect(readFileSync(join(kept, trace), 'utf8')).toBe('kept')
    expect(existsSync(join(kept, 'playwright-report/index.html'))).toBe(true)
  })
})

describe.concurrent('the recipe comment.yml', () => {
  const RECIPE = `${FOLDER}/comment.yml`

  test('comments in a job without the code, from the JUnit file that the gate of the other job has written', async ({
    jobs,
  }) => {
    const api = await startGitHubApi()
    try {
      const token = 'ghs_0123456789'
      api.grant(token, ACTIONS_BOT, 'write')
      const { folder } = await jobs.project({
        ...VITEST,
        'a.test.ts': `${PASSING}
test('ships', () => ${RED})
let tries = 0
test('pays', { retry: 1 }, () => { if (tries++ === 0) throw new Error('no money') })`,
      })
      const artifacts = jobs.folder()
      const play = (job: string, workspace: string, options: JobOptions) =>
        playJob(RECIPE, job, {
          event: ON_PULL_REQUEST,
          workspace,
          commands: commands(jobs, NPM),
          otherAction: artifactsFor(workspace, artifacts),
          ...options,
        })
      const tested = await play('test-run', folder, {})
      expect(tested.result, tested.log).toBe('failure')
      const { result, log } = await play('comment', jobs.folder(), {
        needs: { 'test-run': tested },
        github: { api_url: api.url, token, repository: api.repository },
      })
      // Only the check "test-run" is required. The comment's job says the same.
      expect(result, log).toBe('failure')
      expect(api.comments, log).toMatchObject([
        { body: expect.stringMatching(/Tests failed: 1 of 3[\s\S]*2 passed \(1 flaky\)[\s\S]*ships/) },
      ])
      expect(log).toContain('rain')
    } finally {
      await api.close()
    }
  })
})

// The recipe has the options of GNU's commands, as GitHub's Linux machines do.
describe.skipIf(!ON_LINUX).concurrent('the recipe baseline.yml', () => {
  test('says of a pull request which failures are new, and keeps the last ten runs of the main branch', async ({
    jobs,
  }) => {
    const { folder, git, write } = await jobs.project(VITEST)
    const cache = jobs.folder()
    const baseline = join(folder, 'baseline')
    /** Plays the job for a project with such failures. Each cache is a folder of its own, with the run's id as its name. */
    async function play(event: typeof ON_MAIN, run_id: string, failing: readonly string[]) {
      const test = (title: string) => `test('${title}', () => ${failing.includes(title) ? RED : '{}'})`
      const tests = ['adds', 'pays', 'ships'].map(test).join('\n')
      await git('clean', '--quiet', '-dfx', '--exclude=node_modules')
      await write({ 'a.test.ts': `import { test } from 'vitest'\n${tests}` })
      const otherAction = (uses: string, inputs: Readonly<Record<string, string>>) => {
        const { path = '', key = '', 'restore-keys': restored = '' } = inputs
        if (uses.startsWith('actions/cache/save@'))
          cpSync(join(folder, path), join(cache, key.replace('baseline/', '')), { recursive: true })
        if (!uses.startsWith('actions/cache/restore@')) return
        expect(restored).toBe('baseline/')
        const newest = readdirSync(cache).toSorted().at(-1)
        if (newest !== undefined) cpSync(join(cache, newest), join(folder, path), { recursive: true })
      }
      const options = { event, workspace: folder, commands: commands(jobs, NPM), otherAction, github: { run_id } }
      const { result, log } = await playJob(`${FOLDER}/baseline.yml`, 'test-run', options)
      expect(result, log).toBe('failure')
      return { log, verdict: /finished as \w+: (.*)$/m.exec(log)?.[1] }
    }

    const first = await play(ON_MAIN, '100', ['pays'])
    expect(first.verdict).toBe('1 of 3 test cases failed (“pays” at a.test.ts:3).')
    expect(readdirSync(cache)).toEqual(['100-1'])
    // Nine older runs. Their ids have one digit or two.
    for (const id of [2, 3, 4, 5, 6, 7, 8, 9, 10])
      cpSync(join(cache, '100-1/100-1.json'), join(cache, `100-1/${id}-1.json`))
    const second = await play(ON_MAIN, '101', ['pays'])
    expect(second.verdict, second.log).toBe('1 of 3 test cases failed (“pays” at a.test.ts:3), none new.')
    const kept = [3, 4, 5, 6, 7, 8, 9, 10, 100, 101].map((id) => `${id}-1.json`)
    expect(readdirSync(join(cache, '101-1')).toSorted()).toEqual(kept.toSorted())

    const { log, verdict } = await play(ON_PULL_REQUEST, '102', ['pays', 'ships'])
    expect(verdict, log).toBe('2 of 3 test cases failed (“ships” at a.test.ts:4, “pays” at a.test.ts:3), 1 new.')
    expect(log).not.toContain('There is no baseline')
    // A pull request cannot change the cache of the main branch.
    expect(readdirSync(cache)).toEqual(['100-1', '101-1'])
    expect(readdirSync(baseline)).toHaveLength(10)
  })
})

describe.concurrent('a recipe for shards', () => {
  interface Framework {
    readonly recipe: string
    readonly testFile: (name: string) => string
    readonly test: (title: string, body: string) => string
    readonly files: Files
  }

  /** If there is the file `broken`, the framework fails after it has written its report. */
  const BROKEN = `import { existsSync } from 'node:fs'
const teardown = () => { if (existsSync('broken')) process.on('exit', () => { process.exitCode = 7 }) }`

  const FRAMEWORKS: readonly (readonly [string, Framework])[] = [
    [
      'sharded-playwright.yml',
      {
        recipe: `${FOLDER}/sharded-playwright.yml`,
        testFile: (name) => `${name}.spec.ts`,
        test: (title, body) =>
          PASSING.replace('vitest', '@playwright/test')
            .replace('adds', title)
            .replace('{}', () => body),
        files: {
          ...PLAYWRIGHT,
          'playwright.config.ts': `export default { globalTeardown: './teardown.ts' }`,
          'teardown.ts': `${BROKEN}\nexport default teardown`,
        },
      },
    ],
    [
      'sharded-vitest.yml',
      {
        recipe: `${FOLDER}/sharded-vitest.yml`,
        testFile: (name) => `${name}.test.ts`,
        test: (title, body) => PASSING.replace('adds', title).replace('{}', () => body),
        files: {
          ...VITEST,
          'vitest.config.ts': `export default { test: { globalSetup: './teardown.ts' } }`,
          'teardown.ts': `${BROKEN}\nexport { teardown }`,
        },
      },
    ],
  ]
  const REST = /::error::The jobs of the shards ended as failure\. If no test failed above/

  test.for(FRAMEWORKS)('%s: one gate has the tests of all shards, and is green only if all shards are', async ([
    ,
    { recipe, testFile, test, files },
  ], { jobs }) => {
    const titles = ['adds', 'pays', 'ships', 'sorts']
    const tests = Object.fromEntries(
      titles.map((title) => [testFile(title), test(title, title === 'ships' ? RED : '{}')]),
    )
    const { folder: workspace, git, write } = await jobs.project({ ...files, ...tests })
    const artifacts = jobs.folder()
    const options = { workspace, commands: commands(jobs, NPM), otherAction: artifactsFor(workspace, artifacts) }
    const played = new Map<number, PlayedJob>()
    // Each job has the files of a new checkout. All jobs have the same path, as on GitHub's runners.
    const checkOut = () => git('clean', '--quiet', '-dfx', '--exclude=node_modules')
    const artifactOf = (shard: number) => join(artifacts, `blob-report-${shard}`)
    async function play(shard: number, untracked: Files = {}) {
      await checkOut()
      await write(untracked)
      rmSync(artifactOf(shard), { recursive: true, force: true })
      const job = await playJob(recipe, 'tests', { ...options, contexts: { matrix: { shard } } })
      played.set(shard, job)
      return job
    }
    async function merge() {
      await checkOut()
      const ends = [...played.values()].map(({ result }) => result)
      const result = ends.every((end) => end === 'success') ? 'success' : 'failure'
      return playJob(recipe, 'test-run', { ...options, needs: { tests: { result } } })
    }

    // One test fails in its shard.
    for (const shard of [1, 2, 3, 4]) await play(shard)
    const [red = 0, ...others] = [...played].filter(([, { result }]) => result === 'failure').map(([shard]) => shard)
    expect(others, [...played.values()].map(({ log }) => log).join('\n')).toEqual([])
    const failed = await merge()
    expect(failed.result, failed.log).toBe('failure')
    expect(failed.log).toContain(`finished as FAILED: 1 of 4 test cases failed (“ships” at ${testFile('ships')}:2).`)
    expect(failed.log).toMatch(/^##\[error\].*ships.*\n.*rain/m)

    // All are green.
    await write({ [testFile('ships')]: test('ships', '{}') })
    const mended = await play(red)
    expect(mended.result, mended.log).toBe('success')
    const passed = await merge()
    expect(passed.result, passed.log).toBe('success')
    expect(passed.log).toContain('finished as PASSED: 4 passed.')
    expect(passed.log).not.toMatch(REST)

    // A shard fails with a reason that its report does not have.
    const broken = await play(red, { broken: '' })
    expect(broken.result, broken.log).toBe('failure')
    expect(broken.log).toContain('exit code 7')
    const rest = await merge()
    expect(rest.result, rest.log).toBe('failure')
    expect(rest.log).toContain('finished as PASSED: 4 passed.')
    expect(rest.log).toMatch(REST)
  })
})
