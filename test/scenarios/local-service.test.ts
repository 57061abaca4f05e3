import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { describe, expect } from 'vitest'
import type { WorkflowEvent } from '../../tools/runner-emulator/contexts.ts'
import { playJob } from '../../tools/runner-emulator/job.ts'
import { ROOT } from '../docs/documents.ts'
import { installPackages } from '../support/git-repository.ts'
import {
  type Files,
  HANGING,
  hangingProcess,
  type Jobs,
  ON_LINUX,
  PASSING,
  PLAYWRIGHT,
  processesOf,
  processesThat,
  type StepSettings,
  serviceProcess,
  test,
  VITEST,
} from '../support/local-service-job.ts'
import { renderedPage } from '../support/rendered-page.ts'
import { until } from '../support/until.ts'

// Runs the built action local-service and the built gate in one job. The tests of the projects really run.

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

const CHROMIUM = '/usr/bin/chromium'
/** A page that is shown, and a page whose test never ends. */
const BROWSER_TESTS = {
  'playwright.config.ts': `export default {
    use: { launchOptions: { executablePath: '${CHROMIUM}', args: ['--user-agent=' + import.meta.dirname] } },
    projects: [{ name: 'shows', testMatch: 'a.spec.ts' }, { name: 'hangs', testMatch: 'b.spec.ts', timeout: 0 }],
  }`,
  'a.spec.ts': `import { expect, test } from '@playwright/test'
test('shows', async ({ page }) => {
  await page.setContent('<h1>Shop</h1>')
  await expect(page.locator('h1')).toHaveText('Shop')
})`,
  'b.spec.ts': `import { test } from '@playwright/test'
import { writeFileSync } from 'node:fs'
test('hangs', async ({ page }) => { writeFileSync('pid', String(process.pid)); await new Promise(() => {}) })`,
}

/** The browsers that the tests in a folder started. Their user agent names the folder. */
function browsersOf(folder: string): number[] {
  return processesThat((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--user-agent=${folder}`))
}

/** The annotation of post if the service was killed. */
const KILLED = {
  level: 'error',
  message: expect.stringContaining('The local service was killed or crashed before post'),
}

/** The processes of the action believe that this is macOS, so they do not read /proc. The tests' processes do not. */
const WITHOUT_PROC = `--import=data:text/javascript,${encodeURIComponent(
  `if (/local-service\\/dist\\/.*index.js$/.test(process.argv[1])) Object.defineProperty(process, 'platform', { value: 'darwin' })`,
)}`

describe.concurrent('a job with the local service', () => {
  test.for<[string, Files]>([
    ['Vitest', { ...VITEST, 'a.test.ts': PASSING }],
    ['Playwright', { ...PLAYWRIGHT, 'a.spec.ts': PASSING.replace('vitest', '@playwright/test') }],
  ])('runs %s, passes, shows what it wrote, and leaves nothing', async ([, files], { jobs }) => {
    const { folder, git } = await jobs.project(files)
    const { step, main, outputs, post } = await jobs.play(folder)
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' }, annotations: [] })
    expect(outputs).toMatchObject({ project: folder.split('/').at(-1), branch: await git('rev-parse', 'HEAD') })
    expect(post).toMatchObject({ conclusion: 'success', annotations: [], summary: '' })
    expect(stripVTControlCharacters(main.log.join('\n'))).toContain('1 passed')
    expect(post.log).toContain(
      `The output of run ${main.outputs['run-id']} (${basename(folder)}) is in the log of the step that waited for it.`,
    )
    expect([...groupsIn(post.log).keys()]).toEqual([])
    expect(readdirSync(step.tempDir).filter((name) => name.startsWith('test-run-service'))).toEqual([])
    if (ON_LINUX) expect(processesOf(step)).toEqual([])
  })

  test('keeps what the reporters and the output folder of a project hold', async ({ jobs }) => {
    const junit = `['junit', { outputFile: 'junit.xml' }]`
    const ofVitest = await jobs.project({
      ...VITEST,
      'vitest.config.ts': `export default { test: { reporters: ['default', ${junit}] } }`,
      'a.test.ts': PASSING,
    })
    const ofPlaywright = await jobs.project({
      ...PLAYWRIGHT,
      'playwright.config.ts': `export default { reporter: [['html'], ${junit}] }`,
      'a.spec.ts': `import { writeFileSync } from 'node:fs'
import { test } from '@playwright/test'
test('adds', ({}, info) => writeFileSync(info.outputPath('trace.txt'), 'kept'))`,
    })
    for (const { folder } of [ofVitest, ofPlaywright]) {
      const { main } = await jobs.play(folder)
      expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' } })
      expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toContain('tests="1"')
    }
    const written = ['playwright-report/index.html', 'test-results/a-adds/trace.txt']
    expect(written.filter((file) => existsSync(join(ofPlaywright.folder, file)))).toEqual(written)
  })

  test("tests a project that Yarn installed with Plug'n'Play, by its command", async ({ jobs }) => {
    const shop = {
      folder: '.',
      framework: 'vitest',
      command: ['yarn', 'node', join(ROOT, 'node_modules/vitest/vitest.mjs')],
    }
    const { folder } = await jobs.repository({
      // Yarn fetches nothing for a link, but makes no command of it either.
      'package.json': JSON.stringify({ devDependencies: { vitest: `link:${join(ROOT, 'node_modules/vitest')}` } }),
      'yarn.lock': '',
      'service.json': JSON.stringify({ projects: { shop } }),
      'a.test.ts': `${PASSING}\ntest('fails', () => { throw new Error('rain') })`,
    })
    const home = jobs.folder()
    const command = `"${process.execPath}" "${join(ROOT, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js')}"`
    writeFileSync(
      join(home, 'yarn'),
      `#!/bin/sh\nHOME="${home}" YARN_ENABLE_NETWORK=0 YARN_ENABLE_TELEMETRY=0 exec ${command} "$@"\n`,
      { mode: 0o755 },
    )
    const PATH = `${home}:${process.env.PATH}`
    await promisify(execFile)('yarn', ['install'], { cwd: folder, env: { PATH } })
    const { main } = await jobs.play(folder, { env: { PATH }, inputs: { config: 'service.json' } })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'failed', total: '2', failed: '1' } })
    expect(main.log.join('\n')).toContain('Error: rain')
  })

  const head = { ref: 'change', repo: { id: 1, full_name: 'octo-org/web-shop' } }
  const fork = { ref: 'main', repo: { id: 2, full_name: 'stranger/web-shop' } }
  const repository = { id: 1, full_name: 'octo-org/web-shop', default_branch: 'main' }
  const pullRequest = (of: object) => ({ number: 7, head: of, base: { ref: 'main', repo: repository } })
  const on = (name: string, payload: object) => ({ name, payload: { repository, ...payload } })

  test.for<[string, WorkflowEvent]>([
    ["a pull request's merge commit", on('pull_request', { number: 7, pull_request: pullRequest(head) })],
    ['a pull request from a fork', on('pull_request', { number: 7, pull_request: pullRequest(fork) })],
    ['a push', on('push', { ref: 'refs/heads/change' })],
    ['a merge group', on('merge_group', { merge_group: { head_ref: 'refs/heads/gh-readonly-queue/main/pr-7-a' } })],
    ['a tag', on('push', { ref: 'refs/tags/v1.2.3' })],
  ])('tests what is checked out, and warns of nothing, on %s', async ([name, event], { jobs }) => {
    const { folder, git } = await jobs.project({ ...VITEST, 'a.test.ts': 'not even code' })
    // actions/checkout checks out a branch only on a push of this branch, and otherwise a commit without a branch.
    if (name !== 'a push') await git('checkout', '--quiet', '--detach')
    writeFileSync(join(folder, 'a.test.ts'), PASSING)
    await git('commit', '--quiet', '--all', '--message', 'Make it pass')
    const { main } = await jobs.play(folder, { event })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
    expect(main.summary).toContain(`Branch <code>${await git('rev-parse', 'HEAD')}</code>`)
  })

  test('tests the folder itself, with what earlier steps made in it', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': `${PASSING}\nimport './built.js'` })
    writeFileSync(join(folder, 'built.js'), '')
    const { main } = await jobs.play(folder)
    expect(main.outputs, main.log.join('\n')).toMatchObject({ conclusion: 'passed' })
  })

  test('names the commit of the workflow if there is no git repository', async ({ jobs }) => {
    const folder = jobs.folder()
    await installPackages(folder)
    const inner = join(folder, 'packages/shop')
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, 'package.json'), VITEST['package.json'])
    writeFileSync(join(inner, 'a.test.ts'), PASSING)
    const { main, outputs } = await jobs.play(folder, { inputs: { folder: 'packages/shop' } })
    expect(outputs.branch).toBe('ffac537e6cbbf934b08745a378932722df287a53')
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
  })

  test('logs which commit and branch are checked out, how many files are changed, and which setup does not run', async ({
    jobs,
  }) => {
    const shop = { folder: '.', framework: 'vitest', setup: ['false'] }
    const { folder, git } = await jobs.project({
      ...VITEST,
      'a.test.ts': PASSING,
      'service.json': JSON.stringify({ projects: { shop } }),
    })
    writeFileSync(join(folder, 'a.test.ts'), `${PASSING}\n`)
    writeFileSync(join(folder, 'built.js'), '')
    const commit = await git('rev-parse', 'HEAD')
    const { step, outputs, log } = await jobs.start(folder, { inputs: { config: 'service.json' } })
    expect(log.slice(0, 3)).toEqual([
      `The local service serves the project shop: vitest in ${folder}, commit ${commit} (main).`,
      '"git status" lists 2 changed files in the repository. The tests see the files as they are.',
      'A run of this commit tests the folder itself, so the "setup" of shop does not run.',
    ])
    const { main } = await jobs.gate(step, { ...outputs, project: 'shop', branch: commit }).run()
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
  })

  test("names the pull request's branch beside the merge commit, in both logs and in the summary", async ({ jobs }) => {
    const { folder, git } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    await git('checkout', '--quiet', '--detach')
    const sha = await git('rev-parse', 'HEAD')
    const event = on('pull_request', { number: 7, pull_request: pullRequest(head) })
    const github = { sha, ref: 'refs/pull/7/merge', ref_name: '7/merge', head_ref: 'change', base_ref: 'main' }
    const { step, outputs, log } = await jobs.start(folder, { event, github })
    expect(log[0]).toContain(`commit ${sha} (change, merged into main).`)
    const { main } = await jobs.gate(step, outputs, { event, github }).run()
    expect(main.log).toContainEqual(expect.stringContaining(`branch “${sha}” (“change”)`))
    expect(main.summary).toContain(`Branch <code>${sha}</code> (<code>change</code>)`)
  })

  test('names the branch of the base on pull_request_target, which checks out the base', async ({ jobs }) => {
    const { folder, git } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    await git('checkout', '--quiet', '--detach')
    const sha = await git('rev-parse', 'HEAD')
    const event = on('pull_request_target', { number: 7, pull_request: pullRequest(head) })
    const github = { sha, ref: 'refs/heads/main', ref_name: 'main', head_ref: 'change', base_ref: 'main' }
    const { log } = await jobs.start(folder, { event, github })
    expect(log[0]).toContain(`commit ${sha} (main).`)
  })

  test("gives a commit that is not the workflow run's commit no branch name in the log", async ({ jobs }) => {
    const { folder, git } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    await git('checkout', '--quiet', '--detach')
    const github = { sha: 'a'.repeat(40), ref: 'refs/heads/main', ref_name: 'main' }
    const { log } = await jobs.start(folder, { event: on('push', { ref: 'refs/heads/main' }), github })
    expect(log[0]).toContain(`commit ${await git('rev-parse', 'HEAD')}.`)
  })

  test('refuses another commit than the one that is checked out', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const { step, outputs } = await jobs.start(folder)
    const { main } = await jobs.gate(step, { ...outputs, branch: 'a'.repeat(40) }).run()
    expect(main.annotations[0]?.message).toContain('has no branch')
  })

  // npm and both lines of Yarn install packages so. Yarn 2 and newer need `nodeLinker: node-modules` for that.
  test('runs a package of a workspace that links to another package, without a setup', async ({ jobs }) => {
    const { folder } = await jobs.project({
      'package.json': '{ "workspaces": ["packages/*"], "devDependencies": { "vitest": "*" } }',
      'packages/cart/package.json': '{ "name": "cart", "type": "module", "exports": "./index.js" }',
      'packages/cart/index.js': 'export const cart = 1',
      'packages/shop/package.json': '{ "type": "module", "dependencies": { "cart": "*" } }',
      'packages/shop/a.test.ts': `${PASSING}\nimport 'cart'`,
    })
    spawnSync('ln', ['-s', '../packages/cart', 'node_modules/cart'], { cwd: folder })
    // Yarn 1 puts the commands into the package too.
    mkdirSync(join(folder, 'packages/shop/node_modules/.bin'), { recursive: true })
    spawnSync('ln', ['-s', '../../../../node_modules/vitest/vitest.mjs', 'packages/shop/node_modules/.bin/vitest'], {
      cwd: folder,
    })
    const { main, outputs } = await jobs.play(folder, { inputs: { folder: 'packages/shop' } })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
    expect(outputs.project).toBe('shop')
  })

  test('gives the arguments to the framework that the input names', async ({ jobs }) => {
    const { folder } = await jobs.project({
      'package.json': '{ "type": "module", "devDependencies": { "vitest": "*", "@playwright/test": "*" } }',
      'config/playwright.ci.config.ts': `export default { testDir: '../e2e' }`,
      'e2e/a.spec.ts': `import { test } from '@playwright/test'
test('pays @smoke and fast', () => {})
test('fails', () => { throw new Error('rain') })`,
    })
    const args = '--config=config/playwright.ci.config.ts\n\n  --grep=@smoke and \n--shard=1/1\n'
    const inputs = { framework: 'playwright', args }
    const { main } = await jobs.play(folder, { inputs })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' }, annotations: [] })
    const empty = await jobs.play(folder, { inputs: { ...inputs, args: `${args}--shard=3/3` } })
    expect(empty.main.outputs, empty.main.log.join('\n')).toMatchObject({ conclusion: 'no-tests' })
  })

  test('serves several projects of a configuration file, and its output project is empty', async ({ jobs }) => {
    const { folder, write } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const one = { folder: '..', framework: 'vitest' }
    await write({ 'ci/service.json': JSON.stringify({ projects: { one, two: one } }) })
    const { step, outputs } = await jobs.start(folder, { inputs: { config: 'ci/service.json' } })
    expect(outputs).toMatchObject({ project: '', branch: '' })
    const { main } = await jobs.gate(step, { ...outputs, project: 'two' }).run()
    expect(main.outputs).toMatchObject({ conclusion: 'passed' })
  })

  test('gives tests the variables of a script, and none of an action', async ({ jobs }) => {
    const { folder } = await jobs.project({
      ...VITEST,
      'a.test.ts': `import { writeFileSync } from 'node:fs'
import { test } from 'vitest'
test('writes', () => writeFileSync('names.json', JSON.stringify(Object.keys(process.env))))`,
    })
    const secret = { ACTIONS_RUNTIME_TOKEN: '1', ACTIONS_ID_TOKEN_REQUEST_TOKEN: '2', ACTIONS_OF_TOMORROW: '3' }
    const { main } = await jobs.play(folder, { env: { ...secret, OF_THE_JOB: '4' } })
    expect(main.outputs).toMatchObject({ conclusion: 'passed' })
    const names: string[] = JSON.parse(readFileSync(join(folder, 'names.json'), 'utf8'))
    expect(names).toEqual(expect.arrayContaining(['GITHUB_SHA', 'RUNNER_TEMP', 'OF_THE_JOB']))
    const files = ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY']
    const ofStep = new Set([...Object.keys(secret), ...files, 'INPUT_FOLDER', 'INPUT_RUN-LIMIT-MINUTES'])
    expect(names.filter((name) => ofStep.has(name))).toEqual([])
  })
})

describe.concurrent('a person who sets the service up wrongly reads one sentence', () => {
  const files = { ...VITEST, 'a.test.ts': PASSING }

  test.for<[string, Files, Files, RegExp]>([
    [
      'folder and config',
      files,
      { folder: '.', config: 'a.json' },
      /^With a configuration file, give folder, framework and args in that file\.$/,
    ],
    ['framework and config', files, { framework: 'vitest', config: 'a.json' }, /^With a configuration file, give/],
    ['args and config', files, { args: 'a', config: 'a.json' }, /^With a configuration file, give/],
    [
      'another framework',
      files,
      { framework: 'jest' },
      /framework": .* Expected \("vitest" \| "playwright"\) but received "jest"\.$/,
    ],
    ['a limit that is not a number', files, { 'run-limit-minutes': 'an hour' }, /The run limit is "an hour"\. Give a/],
    ['no such folder', files, { folder: 'nowhere' }, /has no folder .*nowhere\.$/],
    ['no such file', files, { config: 'a.json' }, /a\.json cannot be read: ENOENT/],
    ['no framework', { 'package.json': '{}' }, {}, /uses neither Vitest nor Playwright Test/],
    [
      'both frameworks',
      { ...VITEST, 'vitest.config.ts': '', 'playwright.config.ts': '' },
      {},
      /uses both .* Set "framework" to "vitest" or "playwright"\.$/,
    ],
  ])('about %s', async ([, of, inputs, sentence], { jobs }) => {
    const { folder } = await jobs.project(of)
    const step = jobs.service(folder, { inputs })
    const main = await step.startMain().result()
    expect(main).toMatchObject({ conclusion: 'failure', outputs: {}, failedSilently: false })
    expect(main.annotations.map(({ message }) => message)).toEqual([expect.stringMatching(sentence)])
    expect(main.annotations[0]?.message).not.toContain('--')
    // The service ends by itself, also if post never runs.
    if (ON_LINUX) await until(() => processesOf(step).length === 0)
    expect(await step.runPost()).toMatchObject({ conclusion: 'success', log: [] })
  })

  test('about an argument that breaks a run', async ({ jobs }) => {
    const { folder } = await jobs.project(files)
    const { main } = await jobs.service(folder, { inputs: { args: '--coverage\n\n--watch' } }).run()
    const message = `Project "${basename(folder)}" cannot be served: "args" has "--watch". The run would not end. Leave it out.`
    expect(main.annotations.map((annotation) => annotation.message)).toEqual([message])
  })

  test("about a runner's temporary folder in the repository", async ({ jobs }) => {
    const { folder } = await jobs.project(files)
    const { main } = await jobs.service(folder, { tempDir: join(folder, 'temp') }).run()
    const [message = ''] = main.annotations.map((annotation) => annotation.message)
    expect(message).toContain('In a job, the data folder lies in RUNNER_TEMP.')
  })

  test('about a framework that is not installed', async ({ jobs }) => {
    const { folder } = await jobs.repository(files)
    const { main } = await jobs.service(folder).run()
    const message = `vitest is not installed in ${folder}. Install the packages in a step before this one, for example with "npm ci".`
    expect(main.annotations.map((annotation) => annotation.message)).toEqual([message])
  })

  test.for([
    ['vitest', VITEST, '2.1.9', '3.0'],
    ['@playwright/test', PLAYWRIGHT, '1.44.1', '1.45'],
  ] as const)('about a %s that is too old', async ([name, of, version, oldest], { jobs }) => {
    const { folder, write } = await jobs.repository(of)
    await write({ [`node_modules/${name}/package.json`]: JSON.stringify({ version, bin: 'cli.js' }) })
    const { main } = await jobs.service(folder).run()
    const message = `${name} ${version} is installed in ${folder}. The service needs ${oldest} or newer. Update the package.`
    expect(main.annotations.map((annotation) => annotation.message)).toEqual([message])
  })

  test('about Windows', async ({ jobs }) => {
    const windows = `data:text/javascript,Object.defineProperty(process, 'platform', { value: 'win32' })`
    const { main } = await jobs
      .service(jobs.folder(), {
        env: { NODE_OPTIONS: `--import=${windows.replaceAll(' ', '%20')}` },
      })
      .run()
    expect(main.annotations.map(({ message }) => message)).toEqual([expect.stringMatching(/needs Linux or macOS/)])
  })
})

describe.concurrent('the step fails with what the service wrote', () => {
  test('if the service exits before it can be reached', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const dying = `if (process.argv[1].includes('service/index')) { console.log('it rains'); process.exit(7) }`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(dying)}`
    const { main, post } = await jobs.service(folder, { env: { NODE_OPTIONS } }).run()
    expect(main.annotations.map(({ message }) => message)).toEqual([
      'The local service ended before it was up, with exit code 7. The log above has what it wrote.',
    ])
    expect(main.log).toContain('it rains')
    expect(post).toMatchObject({ conclusion: 'success', log: [] })
  })

  test('if the service cannot be reached within 30 s, and no process is left', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const hanging = `if (process.argv[1].includes('service/index')) for (;;);`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hanging)}`
    const step = jobs.service(folder, { env: { NODE_OPTIONS } })
    const { main, post } = await step.run()
    expect(main.annotations.map(({ message }) => message)).toEqual([expect.stringMatching(/within 30 s/)])
    expect(post).toMatchObject({ conclusion: 'success', log: [] })
    if (ON_LINUX) await until(() => processesOf(step).length === 0)
  })
})

/** The lines of each folded group of a log, by the group's title. */
function groupsIn(log: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  let title = ''
  for (const line of log) {
    if (line.startsWith('##[group]')) {
      title = line.replace('##[group]', '')
      groups.set(title, [])
    } else if (line !== '##[endgroup]') groups.get(title)?.push(line)
  }
  return groups
}

describe.concurrent('a run that does not pass', () => {
  const SEEN = '</code></pre><img src=x>\\n\\n# @octocat\\n::error::injected\\n##[error]injected \\u202e'
  const FAILING = `import { test } from 'vitest'\ntest('fails', () => { throw new Error("${SEEN}") })`

  test.for<[string, Files]>([
    ['Vitest', { ...VITEST, 'a.test.ts': FAILING }],
    ['Playwright', { ...PLAYWRIGHT, 'a.spec.ts': FAILING.replace('vitest', '@playwright/test') }],
  ])('shows what %s wrote in the log of the gate, or else in a folded group, and nothing of it is a command', async ([
    ,
    files,
  ], { jobs }) => {
    const { folder } = await jobs.project(files)
    const shown = await jobs.play(folder)
    expect(shown.main.annotations).toHaveLength(2)
    expect(stripVTControlCharacters(shown.main.log.join('\n'))).toContain('Error: </code></pre><img src=x>')
    expect([...groupsIn(shown.post.log).keys()]).toEqual(['Log of the local service'])

    const { main, post } = await jobs.play(folder, {}, { 'show-output': 'false' })
    expect(main.outputs).toMatchObject({ conclusion: 'failed' })
    // The summary of the gate says why the test failed.
    expect(post).toMatchObject({ conclusion: 'success', annotations: [], summary: '' })
    const groups = groupsIn(post.log)
    expect([...groups.keys()]).toEqual([
      `Output of run ${main.outputs['run-id']} (${basename(folder)}): FAILED`,
      'Log of the local service',
    ])
    const [output = []] = groups.values()
    expect(stripVTControlCharacters(output.join('\n'))).toContain('Error: </code></pre><img src=x>')
    expect(output).toContainEqual(expect.stringContaining('::error::injected'))
    expect(output.filter((line) => line.includes('##['))).toEqual([])
  })

  test.for<[string, Files]>([
    ['Vitest', { ...VITEST, 'vitest.config.ts': `throw new Error("${SEEN}")` }],
    ['Playwright', { ...PLAYWRIGHT, 'playwright.config.ts': `throw new Error("${SEEN}")` }],
  ])('shows what %s wrote in the summary too, if no test case says why, and nothing of it is markup', async ([
    ,
    files,
  ], { jobs }) => {
    const { folder } = await jobs.project(files)
    const { main, post } = await jobs.play(folder)
    expect(main.outputs).toMatchObject({ conclusion: 'failed' })
    const page = renderedPage(post.summary)
    const tags = new Set(page.elements.map(({ tagName }) => tagName))
    expect([...tags].sort()).toEqual(['br', 'code', 'h3', 'p', 'pre'])
    expect(page.codes).toContainEqual(expect.stringContaining('Error: </code></pre><img src=x>'))
    expect(page.text).toContain(`${basename(folder)}: FAILED`)
    expect(page.text).not.toMatch(/\u202e|\[\d+m/)
  })

  test('shows the last 4 MiB of a long output, and says how much is left out', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': FAILING })
    const { step, outputs } = await jobs.start(folder)
    const { main } = await jobs.gate(step, outputs).run()
    const file = join(outputs['output-dir'] ?? '', main.outputs['run-id'] ?? '', 'output.txt')
    expect(stripVTControlCharacters(readFileSync(file, 'utf8'))).toContain('Error: </code></pre><img src=x>')
    writeFileSync(file, `the first line\n${`${'x'.repeat(99)}\n`.repeat(60_000)}the last line\n`)
    const post = await step.runPost()
    const [output = []] = groupsIn(post.log).values()
    expect(output[0]).toBe('… 1.7 MiB before this line are left out.')
    const lines = output.filter((line) => !line.startsWith('::'))
    expect(lines[1]).toBe('x'.repeat(99))
    expect(lines.at(-1)).toBe('the last line')
  })

  test('shows no key, and masks it before anything else', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': FAILING })
    const step = jobs.service(folder)
    const main = await step.startMain().result()
    const key = main.outputs['api-key'] ?? ''
    expect(key).toMatch(/^[\w-]{32}$/)
    expect(step.masks.apply(key)).toBe('***')
    expect(main.log.join('\n')).not.toContain(key)
    await jobs.gate(step, main.outputs).run()
    const post = await step.runPost()
    expect(post.log.join('\n') + post.summary).not.toContain(key)
  })
})

describe.skipIf(!ON_LINUX).concurrent('nothing is left', () => {
  test.for([0, 60, 200])('after a SIGKILL of main %i ms after its start', async (ms, { jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': HANGING })
    const step = jobs.service(folder)
    const { post } = await step.run({ on: ms, by: 'kill' })
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] })
    await until(() => processesOf(step).length === 0)
  })

  test('after a cancel of the workflow', async ({ jobs }) => {
    const { step, gate, main } = await jobs.whileTestHangs()
    expect(await main.cancel()).toMatchObject({ conclusion: 'cancelled', outputs: { status: 'CANCELLED' } })
    await gate.runPost()
    expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [] })
    expect(processesOf(step)).toEqual([])
  })

  test('after a SIGKILL of the gate, whose post cancels the run', async ({ jobs }) => {
    const { step, gate, main } = await jobs.whileTestHangs()
    main.signal('SIGKILL')
    await main.result()
    await gate.runPost()
    expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [] })
    expect(processesOf(step)).toEqual([])
  })

  test.for<[string, StepSettings]>([
    ['on this machine', {}],
    ['without /proc, as on macOS', { env: { NODE_OPTIONS: WITHOUT_PROC } }],
  ])('after a SIGKILL of the service, and then of the gate, also if post never comes, %s', async ([, settings], {
    jobs,
  }) => {
    const { step, main, hanging } = await jobs.whileTestHangs(settings)
    expect(processesOf(step)).toContain(hanging)
    process.kill(serviceProcess(step), 'SIGKILL')
    main.signal('SIGKILL')
    await main.result()
    await until(() => processesOf(step).length === 0)
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [KILLED] })
    expect(post.summary).toContain('the service died during the run')
    // Vitest says which version runs before the tests begin. The gate may have read that before it was killed.
    expect(stripVTControlCharacters(post.log.join('\n'))).toMatch(/RUN {2}v|The output of run \S+ \(.*\) is in the log/)
    expect(processesOf(step)).toEqual([])
  })

  test.skipIf(!existsSync(CHROMIUM))(
    `of a browser, after its tests and after a SIGKILL of the service (needs ${CHROMIUM})`,
    async ({ jobs }) => {
      const { folder } = await jobs.project({ ...PLAYWRIGHT, ...BROWSER_TESTS })
      const { step, outputs } = await jobs.start(folder)
      const passed = await jobs.gate(step, outputs, { inputs: { 'framework-project': 'shows' } }).run()
      expect(passed.main, passed.main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' } })
      await until(() => browsersOf(folder).length === 0)
      const main = jobs.gate(step, outputs, { inputs: { 'framework-project': 'hangs' } }).startMain()
      await hangingProcess(folder)
      expect(browsersOf(folder)).not.toEqual([])
      process.kill(serviceProcess(step), 'SIGKILL')
      main.signal('SIGKILL')
      await main.result()
      expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [KILLED] })
      await until(() => browsersOf(folder).length === 0 && processesOf(step).length === 0)
    },
  )

  test('after a SIGKILL of the test, and then of the service', async ({ jobs }) => {
    const { step, main, hanging } = await jobs.whileTestHangs()
    process.kill(hanging, 'SIGKILL')
    expect(await main.result()).toMatchObject({ conclusion: 'failure' })
    process.kill(serviceProcess(step), 'SIGKILL')
    expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [KILLED] })
    expect(processesOf(step)).toEqual([])
  })

  test('after a shutdown of the runner: post does not run, and the service ends when its folder is removed', async ({
    jobs,
  }) => {
    const { step, gate, main } = await jobs.whileTestHangs()
    main.signal('SIGKILL')
    await main.result()
    // The service may write a file while its folder is emptied, so that the folder is not empty when it is removed.
    const options = { recursive: true, force: true, maxRetries: 20 }
    for (const name of readdirSync(step.tempDir)) rmSync(join(step.tempDir, name), options)
    await until(() => processesOf(step).length === 0)
    expect(gate.jobStatus).toBe('failure')
  })

  /** The test leaves a process that has left the group of the tests. The guard does not kill it. */
  const LEAVING = `import { spawn } from 'node:child_process'
${HANGING.replace('writeFileSync(', "spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref(); writeFileSync(")}`

  async function leaveProcess(jobs: Jobs, settings: StepSettings = {}) {
    const { folder } = await jobs.project({
      'shop/package.json': VITEST['package.json'],
      'shop/a.test.ts': LEAVING,
      'service.json': JSON.stringify({ projects: { shop: { folder: 'shop', framework: 'vitest' } } }),
    })
    const { step, outputs } = await jobs.start(folder, { inputs: { folder: 'shop' }, ...settings })
    const main = jobs.gate(step, outputs).startMain()
    await hangingProcess(join(folder, 'shop'))
    process.kill(serviceProcess(step), 'SIGKILL')
    main.signal('SIGKILL')
    await main.result()
    // The guard kills the group of the tests. The other process stays.
    await until(() => processesOf(step).length === 1)
    return { step, folder }
  }

  test.for<[string, string, Readonly<Record<string, string>>]>([
    ["the project's folder", 'shop', { folder: 'shop' }],
    ["the project's package.json", 'shop/package.json', { folder: 'shop' }],
    ['the configuration file', 'service.json', { config: 'service.json' }],
  ])('after a later step removed %s, and a SIGKILL of the service', async ([, removed, inputs], { jobs }) => {
    const { step, folder } = await leaveProcess(jobs, { inputs })
    rmSync(join(folder, removed), { recursive: true })
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [KILLED] })
    expect(post.summary).toContain('the service died during the run')
    expect(processesOf(step)).toEqual([])
  })

  test('after a SIGKILL of the service, unless the clean-up fails: then post warns', async ({ jobs }) => {
    const failing = `if (process.argv[3] === 'clean') { console.log('it rains'); process.exit(1) }`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(failing)}`
    const { step } = await leaveProcess(jobs, { env: { NODE_OPTIONS } })
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [KILLED, { level: 'warning' }] })
    expect(post.annotations[1]?.message).toContain('may still be on this machine')
    expect(post.log).toContain('it rains')
    for (const pid of processesOf(step)) process.kill(pid, 'SIGKILL')
  })

  test('of a service that is stopped by SIGSTOP, and exits just before post kills it', async ({ jobs }) => {
    const late = `
      const { kill } = process
      if (process.argv[1]?.includes('dist/post')) process.kill = (id, signal) => { kill(id, signal); return kill(2 ** 30, signal) }`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(late)}`
    const { step, main } = await jobs.whileTestHangs({ env: { NODE_OPTIONS } })
    process.kill(serviceProcess(step), 'SIGSTOP')
    main.signal('SIGKILL')
    await main.result()
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] })
    expect(post.summary).toContain('the service died during the run')
    expect(processesOf(step)).toEqual([])
    expect(readdirSync(step.tempDir).filter((name) => name.startsWith('test-run-service'))).toEqual([])
  })

  test('of a service that begins after its job has ended', async ({ jobs }) => {
    const path = join(jobs.folder(), 'gone')
    const service = spawn(process.execPath, [join(ROOT, 'local-service/dist/service/index.js'), path])
    expect(await new Promise((exited) => service.once('exit', exited))).toBe(0)
  })
})

describe.concurrent('the recipe local-service.yml', () => {
  const RECIPE = 'examples/workflows/local-service.yml'
  const GATE = 'OWNER/test-run-action@v1'

  /** What `npm ci` does was done before. */
  function npm(jobs: Jobs): string {
    const folder = jobs.folder()
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\n', { mode: 0o755 })
    return folder
  }

  test('passes', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const { result, log } = await playJob(RECIPE, 'test-run', { workspace: folder, commands: npm(jobs) })
    expect(result, log).toBe('success')
    expect(log).toContain('finished as PASSED: 1 passed.')
  })

  test.runIf(ON_LINUX)('gives the gate no token, because a test can read what the gate gets', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': READING_THE_GATE })
    const { result, log } = await playJob(RECIPE, 'test-run', { workspace: folder, commands: npm(jobs) })
    expect(result, log).toBe('success')
  })

  test('fails with the tests, and post shows why', async ({ jobs }) => {
    const { folder } = await jobs.project({
      ...VITEST,
      'a.test.ts': PASSING.replace('{}', '{ throw new Error("rain") }'),
    })
    const { result, log } = await playJob(RECIPE, 'test-run', { workspace: folder, commands: npm(jobs) })
    expect(result, log).toBe('failure')
    expect(log).toMatch(/Log of the local service.*Error: rain/s)
  })

  test('cancels the run if the workflow is cancelled', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': HANGING })
    const cancel = { during: GATE, on: /RUNNING/ }
    const { result, log } = await playJob(RECIPE, 'test-run', { workspace: folder, commands: npm(jobs), cancel })
    expect(result, log).toBe('cancelled')
    expect(log).toMatch(/CANCELLED/)
  })

  test('also works with both steps in the background', async ({ jobs }) => {
    const { folder } = await jobs.project({ ...VITEST, 'a.test.ts': PASSING })
    const text = readFileSync(join(ROOT, RECIPE), 'utf8')
      .replace('/local-service@v1\n', '/local-service@v1\n        background: true\n      - wait: service\n')
      .replace(`- uses: ${GATE}\n`, `- uses: ${GATE}\n        id: gate\n        background: true\n`)
    const file = join(jobs.folder(), 'workflow.yml')
    writeFileSync(file, `${text}      - wait: gate\n`)
    const options = { workspace: folder, commands: npm(jobs) }
    const { result, log } = await playJob(file, 'test-run', options)
    expect(result, log).toBe('success')
    writeFileSync(join(folder, 'a.test.ts'), HANGING)
    const cancelled = await playJob(file, 'test-run', { ...options, cancel: { during: 'gate', on: /RUNNING/ } })
    expect(cancelled.result, cancelled.log).toBe('cancelled')
    if (ON_LINUX) expect(processesThat((pid) => readlinkSync(`/proc/${pid}/cwd`) === folder)).toEqual([])
  })
})
