import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { describe, expect } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../../../test/documents/documents.ts'
import { installPackages } from '../../../test/support/git-repository.ts'
import { onPullRequest } from '../../../test/support/github-api.ts'
import { until } from '../../../test/support/until.ts'
import {
  HANGING_SCRIPT,
  importing,
  NOT_AWAITED,
  ON_LINUX,
  PASSING,
  PASSING_SCRIPT,
  processesOf,
  SCRIPTED,
  type StepSettings,
  scripted,
  serviceFolder,
  serviceProcess,
  test,
  VITEST,
} from '../support/a-job.ts'

// Runs the built action local-service and the built gate in one job. The other tests in local-service/test test what the service
// does for every request and every project.

/** The annotation of post if the service was killed. */
const KILLED = {
  level: 'error',
  message: expect.stringContaining('The local service was killed or crashed before post'),
}

const MAY_BE_LEFT = { level: 'warning', message: expect.stringContaining('may still be on this machine') }

const NO_RUN = expect.stringContaining('No gate has asked this local service for a run')

/** The processes of the action believe that this is macOS, so they do not read /proc. The tests' processes do not. */
const WITHOUT_PROC = importing(
  `if (/local-service\\/dist\\/.*index.js$/.test(process.argv[1])) Object.defineProperty(process, 'platform', { value: 'darwin' })`,
)

describe.concurrent('a job with the local service', () => {
  test('runs Vitest as it is, gives its tests no variable of an action, and leaves nothing', async ({ jobs }) => {
    const { folder, git } = await jobs.project({
      ...VITEST,
      'vitest.config.ts': `export default { test: { reporters: ['default', ['junit', { outputFile: 'junit.xml' }]] } }`,
      'a.test.ts': `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import './built.js'
test('writes', () => {
  appendFileSync(process.env.GITHUB_OUTPUT, 'a=b')
  expect(readFileSync(process.env.GITHUB_OUTPUT, 'utf8')).toBe('a=b')
  writeFileSync('variables.json', JSON.stringify(process.env))
})`,
    })
    writeFileSync(join(folder, 'built.js'), '')
    const secret = { ACTIONS_RUNTIME_TOKEN: '1', ACTIONS_ID_TOKEN_REQUEST_TOKEN: '2', ACTIONS_OF_TOMORROW: '3' }
    // The first letters of two of them are those of variables of a step.
    const ofJob = { OF_THE_JOB: '4', INPUT_BUCKET: '5', STATE_STORE_URL: '6' }
    const { step, main, outputs, post } = await jobs.play(folder, { env: { ...secret, ...ofJob } })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' }, annotations: [] })
    expect(outputs).toMatchObject({ project: folder.split('/').at(-1), commit: await git('rev-parse', 'HEAD') })
    expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toContain('tests="1"')

    const variables: Record<string, string> = JSON.parse(readFileSync(join(folder, 'variables.json'), 'utf8'))
    const names = Object.keys(variables)
    expect(names).toEqual(expect.arrayContaining(['GITHUB_SHA', 'RUNNER_TEMP', ...Object.keys(ofJob)]))
    const files = ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_STEP_SUMMARY']
    // A test can write to them and read them again, and nobody else reads them.
    expect(files.map((name) => variables[name])).toEqual(
      files.map((name) => join(serviceFolder(step), 'service', name)),
    )
    const { inputs } = parse(readFileSync(join(ROOT, 'local-service/action.yml'), 'utf8'))
    const ofInputs = Object.keys(inputs).map((name) => `INPUT_${name.toUpperCase()}`)
    const ofStep = new Set([...Object.keys(secret), ...ofInputs, 'NODE_CHANNEL_FD'])
    expect(names.filter((name) => ofStep.has(name))).toEqual([])

    expect(stripVTControlCharacters(main.log.join('\n'))).toContain('1 passed')
    expect(post).toMatchObject({ conclusion: 'success', annotations: [], summary: '' })
    // The gate has shown everything.
    expect(post.log).toEqual([])
    expect(filesIn(serviceFolder(step))).toEqual([`output/${main.outputs['run-id']}/output.txt`])
    if (ON_LINUX) expect(processesOf(step)).toEqual([])
  })

  test('announces itself for a gate without inputs, and hides an earlier service from its tests', async ({ jobs }) => {
    const knowsNoService = `test "$(env | grep -c ^TEST_RUN_SERVICE)" = 0 || exit 1; ${PASSING_SCRIPT}`
    const { folder, git } = await jobs.repository(scripted(knowsNoService))
    const earlier = { TEST_RUN_SERVICE_URL: 'http://127.0.0.1:1', TEST_RUN_SERVICE_KEY: 'of-another-service' }
    const { step, outputs, env, log } = await jobs.start(folder, { inputs: SCRIPTED, env: earlier })
    expect(env).toEqual({
      TEST_RUN_SERVICE_URL: outputs['base-url'],
      TEST_RUN_SERVICE_KEY: outputs['api-key'],
      TEST_RUN_SERVICE_PROJECT: outputs.project,
      TEST_RUN_SERVICE_COMMIT: await git('rev-parse', 'HEAD'),
      TEST_RUN_SERVICE_FOLDER: serviceFolder(step),
    })
    expect(log.join()).not.toContain(outputs['api-key'])
    const { main } = await jobs.gateWithoutInputs(step, env).run()
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' }, annotations: [] })
    await step.runPost()
  })

  test('is refused behind one without a run, and takes back what that one has announced', async ({ jobs }) => {
    const [shop, desk] = [jobs.scripted(PASSING_SCRIPT), jobs.scripted(PASSING_SCRIPT)]
    const first = await jobs.start(shop, { inputs: SCRIPTED })
    const { tempDir } = first.step
    const startSecond = () => jobs.service(desk, { inputs: SCRIPTED, tempDir, env: first.env }).startMain().result()
    const refused = await startSecond()
    expect(refused).toMatchObject({ conclusion: 'failure', env: { TEST_RUN_SERVICE_URL: '' } })
    expect(refused.annotations.map(({ message }) => message)).toEqual([
      'An earlier step has started a local service that has had no run yet, and all later gates would test the local service of this step. Put each gate directly behind its local service, or give one configuration with two projects.',
    ])
    // Also a gate whose run is refused, for example for a branch that is not there.
    const gate = jobs.gateWithoutInputs(first.step, { ...first.env, TEST_RUN_SERVICE_COMMIT: 'nowhere' })
    expect((await gate.run()).main.conclusion).toBe('failure')
    expect(await startSecond()).toMatchObject({ conclusion: 'success', annotations: [] })
  })

  test('warns at its end if no gate has started a run', async ({ jobs }) => {
    const { step } = await jobs.start(jobs.scripted(PASSING_SCRIPT), { inputs: SCRIPTED })
    const { conclusion, annotations } = await step.runPost()
    expect({ conclusion, messages: annotations.map(({ message }) => message) }).toEqual({
      conclusion: 'success',
      messages: [expect.stringMatching(/^No gate has asked this local service for a run, so it has tested nothing\./)],
    })
  })

  test('warns at its end if no gate has waited for the end of a run', async ({ jobs }) => {
    const { step, outputs } = await jobs.start(jobs.scripted(HANGING_SCRIPT), { inputs: SCRIPTED })
    const { main } = await jobs.gate(step, outputs, { inputs: { wait: 'false' } }).run()
    expect(main).toMatchObject({ conclusion: 'success' })
    const { annotations } = await step.runPost()
    expect(annotations).toMatchObject([NOT_AWAITED])
  })

  test('runs the framework of the input with its arguments, reporters and files', async ({ jobs }) => {
    const { folder } = await jobs.project({
      'package.json': '{ "type": "module", "devDependencies": { "vitest": "*", "@playwright/test": "*" } }',
      'config/playwright.ci.config.ts': `export default { testDir: '../e2e', outputDir: '../traces', reporter: [['junit', { outputFile: '../junit.xml' }]] }`,
      'e2e/a.spec.ts': `import { writeFileSync } from 'node:fs'
import { test } from '@playwright/test'
test('pays @smoke and fast', ({}, info) => writeFileSync(info.outputPath('trace.txt'), 'kept'))
test('fails', () => { throw new Error('rain') })`,
    })
    const args = '--config=config/playwright.ci.config.ts\n\n  --grep=@smoke and \n--shard=1/1\n'
    // An older Node does not guess whether a file is a module.
    const env = { NODE_OPTIONS: '--no-experimental-detect-module' }
    const { main, post } = await jobs.play(folder, { inputs: { framework: 'playwright', args }, env })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed', total: '1' }, annotations: [] })
    expect(post).toMatchObject({ conclusion: 'success', annotations: [], summary: '' })
    expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toContain('tests="1"')
    expect(globSync('traces/*/trace.txt', { cwd: folder })).toHaveLength(1)
  })

  // Vitest 3 has Vite 6 here, which loads no reporter that is outside the project and not below node_modules.
  test.for(['vitest-3', 'vitest-4', 'vitest-5'] as const)('tests a project of %s by its command', async (version, {
    jobs,
  }) => {
    const files = {
      'package.json': '{ "type": "module" }',
      'a.test.js': `${PASSING}\ntest('fails', () => { throw new Error('rain') })`,
    }
    const { folder } = await jobs.project(files, version)
    const { main } = await jobs.play(folder, { inputs: { framework: 'vitest', command: 'npx vitest run' } })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'failed', total: '2', failed: '1' } })
  })

  test("tests a project that Yarn installed with Plug'n'Play, by its command", async ({ jobs }) => {
    const shop = {
      folder: '.',
      framework: 'vitest',
      command: `yarn node '${join(ROOT, 'node_modules/vitest/vitest.mjs')}'`,
    }
    const { folder } = await jobs.repository({
      // Yarn fetches nothing for a link, but makes no command of it either.
      'package.json': JSON.stringify({ devDependencies: { vitest: `link:${join(ROOT, 'node_modules/vitest')}` } }),
      'yarn.lock': '',
      'service.json': JSON.stringify({ projects: { shop } }),
      'a.test.ts': `${PASSING}\ntest('fails', () => { throw new Error('rain') })`,
    })
    const yarn = `"${process.execPath}" "${join(ROOT, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js')}"`
    const setup = `YARN_ENABLE_NETWORK=0 YARN_ENABLE_TELEMETRY=0 HOME="$(dirname "$0")"`
    const home = jobs.commands({ yarn: `#!/bin/sh\n${setup} exec ${yarn} "$@"\n` })
    const PATH = `${home}:${process.env.PATH}`
    await promisify(execFile)('yarn', ['install'], { cwd: folder, env: { PATH } })
    const { main } = await jobs.play(folder, { env: { PATH }, inputs: { config: 'service.json' } })
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'failed', total: '2', failed: '1' } })
    expect(main.log.join('\n')).toContain('Error: rain')
  })

  test('tests the merge commit of a pull request, and names it, also in a container', async ({ jobs }) => {
    const { folder, git } = await jobs.repository(scripted(PASSING_SCRIPT))
    const sha = await git('rev-parse', 'HEAD')
    const event = onPullRequest()
    const github = { sha, ref: 'refs/pull/7/merge', ref_name: '7/merge', head_ref: 'faster-checkout', base_ref: 'main' }
    // In a container, the repository usually belongs to another user.
    const env = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }
    const { step, outputs, log } = await jobs.start(folder, { inputs: SCRIPTED, event, github, env })
    expect(log[0]).toContain(`, commit ${sha}.`)
    const { main } = await jobs.gate(step, outputs, { event, github }).run()
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
    expect(main.log).toContainEqual(expect.stringContaining(`commit “${sha}”`))
    expect(main.summary).toContain(`Commit <code>${sha}</code>`)
  })

  test('names no commit if there is no git repository, and says why', async ({ jobs }) => {
    const folder = jobs.folder()
    await installPackages(folder)
    const inner = join(folder, 'packages/shop')
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, 'package.json'), VITEST['package.json'])
    writeFileSync(join(inner, 'a.test.ts'), PASSING)
    const { step, outputs, env, log } = await jobs.start(folder, { inputs: { 'working-directory': 'packages/shop' } })
    expect({ output: outputs.commit, variable: env.TEST_RUN_SERVICE_COMMIT }).toEqual({ output: '', variable: '' })
    expect(log.join('\n')).toContain(
      'no commit, because git cannot say what is checked out (git rev-parse failed: fatal: not a git repository',
    )
    const { main } = await jobs.gateWithoutInputs(step, env).run()
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
  })

  test('serves several projects, says what a run of each tests, and names only a common commit', async ({ jobs }) => {
    const one = { folder: '..', framework: 'vitest', command: ['sh', '-c', PASSING_SCRIPT], setup: ['false'] }
    const elsewhere = await jobs.repository({ 'a.txt': 'at another commit' })
    const two = { ...one, setup: undefined }
    const { folder, git } = await jobs.repository({
      'ci/service.json': JSON.stringify({ projects: { one, two } }),
      'ci/others.json': JSON.stringify({ projects: { one, two: { ...two, folder: elsewhere.folder } } }),
    })
    const commit = await git('rev-parse', 'HEAD')
    const { step, outputs, log } = await jobs.start(folder, { inputs: { config: 'ci/service.json' } })
    const setup = 'Its "setup" does not run for this commit, because the folder itself is tested.'
    expect(log.slice(0, 2)).toEqual([
      `The local service serves the project one: vitest in ${folder}, commit ${commit}. ${setup}`,
      `The local service serves the project two: vitest in ${folder}, commit ${commit}.`,
    ])
    expect(outputs).toMatchObject({ project: '', commit })
    const { main } = await jobs.gate(step, { ...outputs, project: 'two' }).run()
    expect(main, main.log.join('\n')).toMatchObject({ outputs: { conclusion: 'passed' }, annotations: [] })
    const others = await jobs.start(folder, { inputs: { config: 'ci/others.json' } })
    expect(others.outputs).toMatchObject({ project: '', commit: '' })
  })
})

// The service's own tests have every sentence. These come from the order, from the folder, and from the system.
test.concurrent.for<[string, string[], message: string | RegExp, logged?: string]>([
  [
    'if the framework is not installed',
    [],
    /^vitest is not installed in \S+\. Install the packages first, for example with "npm ci", or set "command"\.$/,
  ],
  ['on Windows', [`Object.defineProperty(process, 'platform', { value: 'win32' })`], /needs Linux or macOS/],
  [
    'if the service exits before it can be reached',
    [`if (process.argv[1].includes('service/index')) { console.log('it rains'); process.exit(7) }`],
    'The local service ended before it was up, with exit code 7. The log above has what it wrote.',
    'it rains',
  ],
  [
    'if the system does not start the process of the service',
    [`if (process.argv[1].includes('main/index')) process.execPath = '/missing/node'`],
    'The local service could not be started: spawn /missing/node ENOENT',
  ],
])('the step fails, says why, and leaves no process, %s', async ([, code, message, logged = ''], { jobs }) => {
  const { folder } = await jobs.repository({ ...VITEST, 'a.test.ts': PASSING })
  const step = jobs.service(folder, { env: { NODE_OPTIONS: importing(...code) } })
  const main = await step.startMain().result()
  expect(main).toMatchObject({ conclusion: 'failure', outputs: {} })
  expect(main.annotations).toMatchObject([{ level: 'error', message: expect.stringMatching(message) }])
  expect(main.log.join('\n')).toContain(logged)
  expect(main.summary).toMatch(/^\n\n## ❌ Local service not started\n<p><code>.*<\/code><\/p>\n$/)
  // The service ends by itself, also if post never runs.
  if (ON_LINUX) await until(() => processesOf(step).length === 0)
  expect(await step.runPost()).toMatchObject({ conclusion: 'success', log: [] })
})

/** The files in a folder, by their paths from there. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
}

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
  const SEEN = 'Error: </code></pre><img src=x>\n\n# @octocat\n::error::injected\n##[error]injected \u202e\n'
  const FAILING = `printf '${SEEN}'; ${PASSING_SCRIPT.replace('PASSED', 'FAILED')}; exit 1`

  test('shows what it wrote once, in the log of the gate or of post, and never the key', async ({ jobs }) => {
    const { step, outputs, log } = await jobs.start(jobs.scripted(FAILING), { inputs: SCRIPTED })
    const key = outputs['api-key'] ?? ''
    expect(key).toMatch(/^[\w-]{36}$/)
    expect(step.masks.apply(key)).toBe('***')

    const shown = await jobs.gate(step, outputs).run()
    expect(shown.main).toMatchObject({ outputs: { conclusion: 'failed' } })
    expect(shown.main.annotations).toHaveLength(2)
    expect(stripVTControlCharacters(shown.main.log.join('\n'))).toContain('Error: </code></pre><img src=x>')
    const silent = await jobs.gate(step, outputs, { inputs: { 'show-output': 'false' } }).run()
    const runId = silent.main.outputs['run-id'] ?? ''
    const file = join(outputs['output-dir'] ?? '', runId, 'output.txt')
    expect(stripVTControlCharacters(readFileSync(file, 'utf8'))).toContain('Error: </code></pre><img src=x>')

    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [], summary: '' })
    const groups = groupsIn(post.log)
    const [output = []] = groups.values()
    expect([...groups.keys()]).toEqual([`Output of run ${runId} (shop): FAILED`])
    // The output is shown once.
    expect(stripVTControlCharacters(output.join('\n')).split('Error: </code></pre><img src=x>')).toHaveLength(2)
    expect(output).toContain(': :error::injected')
    expect(output.filter((line) => line.includes('##['))).toEqual([])
    expect([...log, ...post.log].join('\n')).not.toContain(key)
  })

  test('has its reason in the log of post if no gate has waited for it', async ({ jobs }) => {
    const { folder } = await jobs.repository(scripted('printf "it rains"; touch ended; exit 1'))
    const { step, outputs } = await jobs.start(folder, { inputs: SCRIPTED })
    await jobs.gate(step, outputs, { inputs: { wait: 'false' } }).run()
    await until(() => existsSync(join(folder, 'ended')))
    // A gate that waits for a run of the same folder learns when the first run has ended.
    await jobs.gate(step, outputs).run()
    const { log } = await step.runPost()
    // The second run has been shown by the gate.
    const groups = [...groupsIn(log).values()]
    const reason = /^vitest exited with code 1 without a report: it rains\. The "command" of /
    expect(groups.map((lines) => lines.slice(-2))).toEqual([['it rains', expect.stringMatching(reason)]])
  })
})

test.concurrent('a command of 100 KB runs, and nobody else can read it while the tests run', async ({ jobs }) => {
  const { folder } = await jobs.repository({ 'a.txt': '' })
  const report = '<testsuite name="s"><testcase name="a"/></testsuite>'
  const lines = `${'echo "a"\n'.repeat(11_000)}ls "$RUNNER_TEMP"/*/service\necho '${report}' > junit.xml`
  const { step, outputs } = await jobs.start(folder, { inputs: { command: lines, report: 'junit.xml' } })
  const { main } = await jobs.gate(step, outputs).run()
  expect(main.conclusion).toBe('success')
  expect(main.log).toContain('data')
  expect(main.log).not.toContain('inputs.json')
  await step.runPost()
})

test.concurrent('a problem of the service itself is in the log of post, without the output that the gate has shown', async ({
  jobs,
}) => {
  // The run cannot make its folder, because a file is in its place.
  const spoiling = 'echo "it rains"; echo; echo end; rm -rf "$DATA/runs"; touch "$DATA/runs"'
  const folder = jobs.scripted(spoiling)
  const { step, outputs } = await jobs.start(folder, { inputs: SCRIPTED })
  const data = join(serviceFolder(step), 'service/data')
  const first = await jobs.gate(step, outputs, { inputs: { 'env-overrides': `DATA=${data}` } }).run()
  expect(first.main.log).toContain('it rains')
  const { main } = await jobs.gate(step, outputs).run()
  expect(main.log.join('\n')).toContain('the service could not run the tests: ENOTDIR')
  const post = await step.runPost()
  const shown = groupsIn(post.log).get('Log of the local service') ?? []
  expect(shown.join('\n')).toMatch(/Z error: run \S+: failed to run: ENOTDIR/)
  expect(shown.join('\n')).not.toContain('it rains')
  const problem = 'The local service could not do something itself. The log above says what.'
  expect(post.annotations).toMatchObject([{ level: 'warning', message: problem }])
})

describe.skipIf(!ON_LINUX).concurrent('nothing is left', () => {
  test.for([0, 100])('after a SIGKILL of main %i ms after its start', async (ms, { jobs }) => {
    const step = jobs.service(jobs.scripted(HANGING_SCRIPT), { inputs: SCRIPTED })
    const { post } = await step.run({ on: ms, by: 'kill' })
    expect(post.conclusion).toBe('success')
    // On a quick machine, the service is up before the kill. Then post warns that no gate has used it.
    expect([[], [NO_RUN]]).toContainEqual(post.annotations.map(({ message }) => message))
    await until(() => processesOf(step).length === 0)
  })

  test.for<[string, Pick<StepSettings, 'env'>]>([
    ['on this machine', {}],
    ['without /proc, as on macOS', { env: { NODE_OPTIONS: WITHOUT_PROC } }],
  ])('after a SIGKILL of the service and of the gate %s', async ([, settings], { jobs }) => {
    const script = `echo RUN; sleep 3600 & ${HANGING_SCRIPT}`
    const { step, main, hanging } = await jobs.whileScriptHangs(settings, script)
    expect(processesOf(step)).toContain(hanging)
    process.kill(serviceProcess(step), 'SIGKILL')
    main.signal('SIGKILL')
    const { log } = await main.result()
    await until(() => processesOf(step).length === 0)
    // Post believes no list of runs of a service that was killed, because tests may have written the list.
    const nothing = { finished: [], isClean: true, hadProblem: false }
    writeFileSync(join(serviceFolder(step), 'service/runs-at-end.json'), JSON.stringify(nothing))
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [KILLED] })
    expect(post.log.join('\n')).toContain('INTERRUPTED: it was RUNNING when the service died')
    // The gate may have shown this output before it was killed.
    expect(stripVTControlCharacters([...log, ...post.log].join('\n'))).toContain('RUN')
    expect([...groupsIn(post.log).keys()]).toContain('Log of the local service')
    expect(groupsIn(post.log).get('Log of the clean-up')?.join('\n')).toMatch(/Z run \S+: INTERRUPTED/)
    expect(processesOf(step)).toEqual([])
  })

  test('after a shutdown of the runner, because the service ends with its folder', async ({ jobs }) => {
    const { step, gate, main } = await jobs.whileScriptHangs()
    main.signal('SIGKILL')
    await main.result()
    // The service may write a file while its folder is emptied, so that the folder is not empty when it is removed.
    const options = { recursive: true, force: true, maxRetries: 20 }
    for (const name of readdirSync(step.tempDir)) rmSync(join(step.tempDir, name), options)
    await until(() => processesOf(step).length === 0)
    expect(gate.jobStatus).toBe('failure')
  })

  // Post has a shorter limit here.
  const IMPATIENT = `
    import children from 'node:child_process'
    import { syncBuiltinESMExports } from 'node:module'
    const { spawnSync } = children
    children.spawnSync = (program, args, options) =>
      spawnSync(program, args, { ...options, timeout: options.timeout && 500 })
    syncBuiltinESMExports()`
  const whileCleaning = (code: string) => `if (process.argv[2] === 'clean') { ${code} }`
  const TELLS_TOKEN = `console.error('token:', process.env.ACTIONS_RUNTIME_TOKEN); process.exit(1)`
  const BREAKS_DATABASE = `
    const { mkdirSync, rmSync } = process.getBuiltinModule('fs')
    const database = process.argv[3] + '/service/data/runs.sqlite'
    rmSync(database)
    mkdirSync(database)`
  const isOverLimit = expect.stringMatching(/could not remove what the service left: .*ETIMEDOUT/)

  test.for<[string, string[], object[], string]>([
    // The clean-up reads what tests wrote, so it gets no token either.
    ['fails', [whileCleaning(TELLS_TOKEN)], [], 'token: undefined'],
    ['finds no database', [whileCleaning(BREAKS_DATABASE)], [], 'is not a regular file'],
    // For example, tests have written a store whose queries never end.
    ['never ends', [IMPATIENT, whileCleaning('for (;;);')], [{ message: isOverLimit }], '##[group]Log of the clean-up'],
  ])('or post warns, if the clean-up %s', async ([, code, warnings, logged], { jobs }) => {
    const env = { NODE_OPTIONS: importing(...code), ACTIONS_RUNTIME_TOKEN: 'secret' }
    const { step, main } = await jobs.whileScriptHangs({ env })
    process.kill(serviceProcess(step), 'SIGKILL')
    main.signal('SIGKILL')
    await main.result()
    await until(() => processesOf(step).length === 0)
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [...warnings, KILLED, MAY_BE_LEFT] })
    expect(post.log.join('\n')).toContain(logged)
  })
})
