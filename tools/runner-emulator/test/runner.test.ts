// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { placesThatShow, prepareStep, type Step, type StepOptions } from '../runner.ts'
import { type ActionFixture, STUBBORN, writeAction } from './fixture.ts'

let root = ''
const steps: Step[] = []

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'runner-test-')))
})

afterEach(async () => {
  await Promise.all(steps.splice(0).map((step) => step.dispose()))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function prepare(fixture: ActionFixture, options: StepOptions = {}): Step {
  const step = prepareStep({ actionDir: writeAction(root, fixture), ...options })
  steps.push(step)
  return step
}

async function runMain(main: string, options: StepOptions = {}, inputs: ActionFixture['inputs'] = {}) {
  return prepare({ main, inputs }, options).startMain().result()
}

/** A process that tells its environment and more through an output. */
const TELL = `put('OUTPUT', 'facts=' + JSON.stringify({
  env: process.env, cwd: process.cwd(), node: process.execPath, argv: process.argv,
  sizes: ['OUTPUT', 'STATE', 'STEP_SUMMARY', 'ENV', 'PATH'].map((name) => fs.statSync(process.env['GITHUB_' + name]).size),
  stdin: fs.readFileSync(0, 'utf8'), pipes: [fs.fstatSync(1).ino, fs.fstatSync(2).ino],
}) + '\\n')`

interface Facts {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly node: string
  readonly argv: readonly string[]
  readonly sizes: readonly number[]
  readonly stdin: string
  readonly pipes: readonly number[]
}

async function facts(options: StepOptions = {}, inputs: ActionFixture['inputs'] = {}): Promise<Facts> {
  const { outputs } = await runMain(TELL, options, inputs)
  return JSON.parse(outputs.facts ?? '') as Facts
}

describe('how a process is started', () => {
  test('by this very node, in the workspace, with stdin at its end and two pipes', async () => {
    const step = prepare({ main: TELL })
    const { outputs } = await step.startMain().result()
    const { node, argv, cwd, stdin, pipes } = JSON.parse(outputs.facts ?? '') as Facts
    expect(isAbsolute(node)).toBe(true)
    expect(node).toBe(realpathSync(process.execPath))
    expect(argv.slice(1)).toEqual([expect.stringMatching(/main\.cjs$/)])
    expect(cwd).toBe(step.workspace)
    expect(stdin).toBe('')
    expect(new Set(pipes).size).toBe(2)
  })

  test.runIf(process.platform === 'linux')('in the process group of the runner', async () => {
    const groupOf = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(')')).split(' ')[3]
    const { outputs } = await runMain(`put('OUTPUT', 'stat=' + fs.readFileSync('/proc/self/stat', 'utf8'))`)
    expect(groupOf(outputs.stat ?? '')).toBe(groupOf(readFileSync('/proc/self/stat', 'utf8')))
  })

  test('with fresh, empty, existing files', async () => {
    expect((await facts()).sizes).toEqual([0, 0, 0, 0, 0])
    const script = `put('STATE', 'file=' + process.env.GITHUB_STATE + '\\n')`
    const { main, post } = await prepare({ main: script, post: script }).run()
    expect(post.state.file).not.toBe(main.state.file)
    expect(post.files.STATE).toBe(`file=${post.state.file}\n`)
  })

  test('with the variables of GitHub and its runner, and no others of theirs', async () => {
    const payload = { number: 7, pull_request: { number: 7, head: { ref: 'topic' }, base: { ref: 'main' } } }
    const { env } = await facts({
      event: { name: 'pull_request', payload },
      github: { actor: 'dependabot[bot]' },
      env: { GITHUB_ACTIONS: 'false' },
    })
    expect(env).toMatchObject({
      ACTIONS_RUNTIME_TOKEN: expect.any(String),
      ACTIONS_RUNTIME_URL: expect.any(String),
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_ACTOR: 'dependabot[bot]',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_HEAD_REF: 'topic',
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_REF_NAME: '7/merge',
      GITHUB_REPOSITORY: 'octo-org/web-shop',
      GITHUB_RUN_ATTEMPT: '1',
      RUNNER_OS: expect.any(String),
    })
    expect(env).not.toHaveProperty('GITHUB_ACTION_PATH')
    expect(env).not.toHaveProperty('GITHUB_TOKEN')
    expect(env).not.toHaveProperty('GITHUB_EVENT')
    expect(env).not.toHaveProperty('RUNNER_DEBUG')
    expect(existsSync(env.RUNNER_TEMP ?? '')).toBe(true)
  })

  test('with the event in a file', async () => {
    const payload = { action: 'opened' }
    const main = `console.log(fs.readFileSync(process.env.GITHUB_EVENT_PATH, 'utf8'))`
    const { log } = await runMain(main, { event: { name: 'issues', payload } })
    expect(JSON.parse(log[0] ?? '')).toEqual(payload)
  })

  test('with nothing of the machine that could decide a test', async () => {
    process.env.HTTPS_PROXY = 'http://machine.invalid'
    try {
      const { env } = await facts({ env: { MY_NAME: 'mine', CI: 'custom' } })
      expect(env).not.toHaveProperty('HTTPS_PROXY')
      expect(env).not.toHaveProperty('NODE_OPTIONS')
      expect(env).toMatchObject({ MY_NAME: 'mine', CI: 'custom' })
    } finally {
      delete process.env.HTTPS_PROXY
    }
  })

  test('with the proxy of the runner in both cases of letters', async () => {
    const { env } = await facts({ proxy: { https: 'http://proxy:1', no: 'localhost' } })
    expect(env).toMatchObject({ https_proxy: 'http://proxy:1', HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'localhost' })
    expect(env).not.toHaveProperty('http_proxy')
  })
})

describe('inputs', () => {
  const inputs = {
    'run id': {},
    'base-url': { required: true },
    wait: { default: true },
    minutes: { default: 60 },
    Branch: { default: "${{ github.ref_type == 'branch' && github.ref_name || '' }}" },
    matrix: { default: '${{ toJSON(matrix) }}' },
    token: { default: '${{ github.token }}' },
    status: { default: '${{ job.status }} on ${{ runner.os }}' },
    'check-run-id': { default: '${{ job.check_run_id }}' },
    group: { deprecationMessage: 'Use "project".' },
  }

  test('are all there, under their names, with their defaults evaluated', async () => {
    const { env } = await facts({ matrix: { node: 24 } }, inputs)
    expect(env).toMatchObject({
      INPUT_RUN_ID: '',
      'INPUT_BASE-URL': '',
      INPUT_WAIT: 'true',
      INPUT_MINUTES: '60',
      INPUT_BRANCH: 'main',
      INPUT_MATRIX: '{\n  "node": 24\n}',
      INPUT_TOKEN: expect.stringMatching(/^ghs_/),
      INPUT_STATUS: `success on ${env.RUNNER_OS}`,
      'INPUT_CHECK-RUN-ID': expect.stringMatching(/^\d+$/),
      INPUT_GROUP: '',
    })
    const other = await facts({ job: { check_run_id: null } }, inputs)
    expect(other.env).toMatchObject({ INPUT_MATRIX: 'null', 'INPUT_CHECK-RUN-ID': '' })
  })

  test('that were given beat the defaults, even empty, and stand as given', async () => {
    const given = { wait: '', BRANCH: 'topic', 'base-url': '${{ github.token }}' }
    const { env } = await facts({ inputs: given }, inputs)
    expect(env).toMatchObject({ INPUT_WAIT: '', INPUT_BRANCH: 'topic', 'INPUT_BASE-URL': '${{ github.token }}' })
  })
})

describe('an end', () => {
  test('is a failure at any other exit code than 0, and silent without an error command', async () => {
    const silent = await runMain('process.exitCode = 3')
    expect(silent).toMatchObject({ conclusion: 'failure', exitCode: 3, failedSilently: true })
    const explained = await runMain(`console.log('::error::why'); process.exitCode = 1`)
    expect(explained).toMatchObject({ conclusion: 'failure', failedSilently: false })
  })

  test.each([
    ['the first warnings', `console.log('::warning::' + 'x'.repeat(255) + '😀')`],
    ['any notice', `console.log('::notice::' + 'x'.repeat(4095) + '😀')`],
  ])('is none if the worker would abort, because it cuts the emoji in %s', async (_, main) => {
    await expect(runMain(main)).rejects.toThrow('surrogate pair: "xxx')
  })

  test('is a result if the emoji is elsewhere, or in a later message', async () => {
    const main = `for (const n of [254, 256, 257, 255]) console.log('::error::' + 'x'.repeat(n) + '😀')`
    expect((await runMain(main)).annotations).toHaveLength(4)
  })

  test('loses what is beyond 64 kB in its pipe when it exits, an error command too', async () => {
    const read = Promise.withResolvers<void>()
    const main = `process.stdout.write('.'.repeat(200_000) + '\\n::error::lost\\n'); process.exit(1)`
    const process = prepare({ main }, { readLogAfter: read.promise }).startMain()
    await process.exited
    read.resolve()
    const { log, failedSilently } = await process.result()
    expect(log).toEqual(['.'.repeat(65_536)])
    expect(failedSilently).toBe(true)
  })
})

describe('what a process leaves in its files', () => {
  test('is what the toolkit of GitHub wrote', async () => {
    const core = import.meta.resolve('@actions/core')
    const hostile = 'a\r\n%0A::error::x\nEOF\n<<=é😀'
    const step = prepare({
      main: `import(${JSON.stringify(core)}).then(async (core) => {
  const text = ${JSON.stringify(hostile)}
  core.setSecret('hush'); core.setOutput('text', text); core.saveState('text', text); core.exportVariable('TEXT', text)
  core.error(text, { title: 'A, b: c%' }); core.startGroup('g'); core.endGroup(); core.debug('no')
  core.info(core.getInput('some-input')); await core.summary.addRaw('hush').write(); core.setFailed('in the end')
})`,
      post: `import(${JSON.stringify(core)}).then((core) => core.info(JSON.stringify([core.getState('text'), process.env.TEXT])))`,
      inputs: { 'some-input': { default: 'default hush' } },
    })
    const { main, post } = await step.run()
    expect(main).toMatchObject({
      conclusion: 'failure',
      failedSilently: false,
      outputs: { text: hostile },
      state: { text: hostile },
      env: { TEXT: hostile },
      summary: '***\n',
    })
    expect(main.annotations).toMatchObject([{ title: 'A, b: c%', message: hostile }, { message: 'in the end' }])
    expect(main.log.slice(-4)).toEqual(['##[group]g', '##[endgroup]', 'default ***', '##[error]in the end'])
    expect(JSON.parse(post.log[0] ?? '')).toEqual([hostile, hostile])
  })
})

describe('post', () => {
  test('gets the state, the variables and the inputs evaluated anew; its outputs are dropped, its summary is kept', async () => {
    const step = prepare(
      {
        main: `put('STATE', 'runId=7\\n'); put('ENV', 'LEFT=behind\\n')
put('STEP_SUMMARY', 'main'); console.log('::error::no'); process.exitCode = 1`,
        post: `put('OUTPUT', 'late=1\\n'); put('STEP_SUMMARY', 'post'); put('STATE', 'x=1\\n')
const { STATE_runId, INPUT_STATUS, INPUT_GIVEN, LEFT } = process.env
console.log(JSON.stringify([STATE_runId, INPUT_STATUS, INPUT_GIVEN, LEFT]))`,
        inputs: { status: { default: '${{ job.status }}' }, given: {} },
      },
      { inputs: { given: 'g' } },
    )
    expect(step.inputs.get('status')).toBe('success')
    const { main, post, summary, jobStatus } = await step.run()
    expect(JSON.parse(post.log[0] ?? '')).toEqual(['7', 'failure', 'g', 'behind'])
    expect(post.conclusion).toBe('success')
    expect(post.outputs).toEqual({})
    expect(main.conclusion).toBe('failure')
    expect(summary).toBe('main\npost\n')
    expect(jobStatus).toBe('failure')
  })

  test('is registered when main starts, and not before', async () => {
    const step = prepare({ main: '', post: '' })
    expect(await step.runPost()).toMatchObject({ conclusion: 'skipped', skippedBecause: 'main never started' })
    await expect(step.startPost()).rejects.toThrow('main was not started')
  })
})

const POLITE = `process.on('SIGINT', () => { console.log('::error::stopped'); process.exit(0) }); console.log('ready'); hang()`

describe('a cancelled step', () => {
  test('that ends at SIGINT gets nothing more, and its exit code is ignored', async () => {
    const { main, interrupted, jobStatus } = await prepare({ main: POLITE }).run({ on: /ready/, by: 'cancel' })
    expect(main).toMatchObject({ conclusion: 'cancelled', exitCode: 0, signal: null, signalsSent: ['SIGINT'] })
    expect(interrupted).toBe(true)
    expect(jobStatus).toBe('cancelled')
  })

  test('is signalled itself, its children are not', async () => {
    const child = `process.on('SIGINT', () => console.log('child too')); console.log('child ready'); setTimeout(() => {}, 300)`
    const main = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' })
process.on('SIGINT', () => process.exit(0)); hang()`
    const end = await prepare({ main }).run({ on: /child ready/, by: 'cancel' })
    expect(end.main.log).toEqual(['child ready', '##[error]The operation was canceled.'])
  })

  test('runs post, which sees a cancelled job', async () => {
    const post = `console.log(process.env.INPUT_STATUS)`
    const inputs = { status: { default: '${{ job.status }}' } }
    const end = await prepare({ main: POLITE, post, inputs, postIf: 'cancelled()' }).run({ on: /ready/, by: 'cancel' })
    expect(end.post).toMatchObject({ conclusion: 'success', log: ['cancelled'] })
  })

  test('that had finished before was not cancelled', async () => {
    const end = await prepare({ main: `console.log('done')` }).run({ on: 60_000, by: 'cancel' })
    expect(end).toMatchObject({ interrupted: false, jobStatus: 'success', main: { conclusion: 'success' } })
  })

  test('can be interrupted before its handlers are installed', async () => {
    const main = prepare({ main: STUBBORN }).startMain()
    expect(main.signal('SIGINT')).toBe(true)
    expect(await main.result()).toMatchObject({ signal: 'SIGINT', conclusion: 'failure', failedSilently: true })
    expect(main.signal('SIGINT')).toBe(false)
  })
})

describe('a step that is past its time limit', () => {
  test('gets the same signals but has failed, so that cancelled() is false', async () => {
    const end = await prepare({ main: POLITE, post: '', postIf: 'cancelled()' }).run({ on: /ready/, by: 'timeout' })
    expect(end.main).toMatchObject({ conclusion: 'failure', exitCode: 0, signalsSent: ['SIGINT'] })
    expect(end.main.log.at(-1)).toMatch(/##\[error\]The action 'Fixture' has timed out/)
    expect(end.post).toMatchObject({ conclusion: 'skipped', skippedBecause: 'post-if' })
    expect(end.jobStatus).toBe('failure')
  })

  test('is measured by timeoutMs, for main and afresh for post', async () => {
    const hanging = `process.on('SIGINT', () => process.exit(0)); hang()`
    const { main, post } = await prepare({ main: hanging, post: hanging }, { timeoutMs: 500 }).run()
    for (const end of [main, post]) expect(end).toMatchObject({ conclusion: 'failure', signalsSent: ['SIGINT'] })
  })
})

describe('other endings of a step', () => {
  test('a shutdown of the runner: the signals, the job has failed, no post, an empty temporary folder', async () => {
    const step = prepare({ main: POLITE, post: `console.log('post')` })
    const { main, post, jobStatus } = await step.run({ on: /ready/, by: 'shutdown' })
    expect(main).toMatchObject({ conclusion: 'cancelled', signalsSent: ['SIGINT'] })
    expect(post).toMatchObject({ conclusion: 'skipped', skippedBecause: 'shutdown', log: [] })
    expect(jobStatus).toBe('failure')
    expect(readdirSync(step.tempDir)).toEqual([])
  })

  test('a killed worker: main meets EPIPE, nothing comes after', async () => {
    const main = `process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 4 : 5))
console.log('ready'); setInterval(() => console.log('more'), 10)`
    const { post, mainExit } = await prepare({ main, post: '' }).run({ on: /ready/, by: 'killed worker' })
    expect(await mainExit).toMatchObject({ exitCode: 4, signalsSent: [] })
    expect(post).toMatchObject({ conclusion: 'skipped', skippedBecause: 'killed worker' })
  })

  test('a lost runner: nothing comes after', async () => {
    const end = await prepare({ main: POLITE, post: '' }).run({ on: /ready/, by: 'lost runner' })
    expect(end.main).toMatchObject({ signal: 'SIGKILL', signalsSent: ['SIGKILL'] })
    expect(end.post).toMatchObject({ conclusion: 'skipped', skippedBecause: 'lost runner' })
  })

  test('a cancel without a signal: main goes on to its own end, post sees a cancelled job', async () => {
    const main = `process.on('SIGINT', () => console.log('signal')); console.log('ready'); setTimeout(() => console.log('done'), 200)`
    const inputs = { status: { default: '${{ job.status }}' } }
    const post = `console.log(process.env.INPUT_STATUS)`
    const end = await prepare({ main, post, inputs }).run({ on: /ready/, by: 'cancel without signal' })
    expect(end.main).toMatchObject({ conclusion: 'success', signalsSent: [], log: ['ready', 'done'] })
    expect(end.post.log).toEqual(['cancelled'])
    expect(end.jobStatus).toBe('cancelled')
  })

  test('a kill: the step has failed, post runs', async () => {
    const end = await prepare({ main: POLITE, post: `console.log('post')` }).run({ on: /ready/, by: 'kill' })
    expect(end.main).toMatchObject({ conclusion: 'failure', signal: 'SIGKILL', failedSilently: true })
    expect(end.post.log).toEqual(['post'])
  })
})

describe('waiting for a line', () => {
  test('finds lines that were there and lines to come, as the log shows them', async () => {
    const main = prepare({
      main: `console.log('one'); setTimeout(() => console.log('::warning::two'), 100)`,
    }).startMain()
    await expect(main.waitForLine(/^one$/)).resolves.toBe('one')
    expect(main.log).toEqual(['one'])
    expect(main.isRunning).toBe(true)
    await expect(main.waitForLine(/two/)).resolves.toBe('##[warning]two')
    await expect(main.waitForLine(/one/g)).resolves.toBe('one')
    await main.result()
    expect(main.isRunning).toBe(false)
  })

  test('fails with the log if the line never came', async () => {
    const main = prepare({ main: `console.log('only this')` }).startMain()
    await expect(main.waitForLine(/never/)).rejects.toThrow(/main ended without .*\/never\/:\nonly this/s)
  })

  test('ends when its signal says so', async () => {
    const main = prepare({ main: 'hang()' }).startMain()
    const abort = new AbortController()
    const waiting = main.waitForLine(/never/, abort.signal)
    abort.abort()
    await expect(waiting).rejects.toThrow('aborted')
  })
})

describe('a secret', () => {
  test('of the repository and the token are masked from the start', async () => {
    const main = `console.log('key-1234 ' + process.env.INPUT_TOKEN)`
    const { log } = await runMain(main, { secrets: ['key-1234'] }, { token: { default: '${{ github.token }}' } })
    expect(log).toEqual(['*** ***'])
  })

  test('is found wherever it shows, in any form', async () => {
    const ended = await runMain(`console.log('::error title=key-1234::' + Buffer.from('key-1234').toString('base64'))
put('OUTPUT', 'url=x?key%2D1234\\nkey=key-1234\\n'); put('STEP_SUMMARY', 'key-1234')`)
    expect(placesThatShow('key-1234', ended)).toEqual([
      'log line 1',
      'summary',
      'output key',
      'title of annotation 1',
      'message of annotation 1',
    ])
    expect(placesThatShow('key-5678', ended)).toEqual([])
  })
})

describe('disposing', () => {
  test('leaves the folders that it was given', async () => {
    const workspace = join(root, 'given', 'work')
    const tempDir = join(root, 'given', 'temp')
    mkdirSync(workspace, { recursive: true })
    writeFileSync(join(workspace, 'kept'), '')
    {
      await using step = prepareStep({
        actionDir: writeAction(root, { main: `console.log(process.cwd(), process.env.RUNNER_TEMP)` }),
        workspace,
        tempDir,
      })
      expect((await step.startMain().result()).log).toEqual([`${workspace} ${tempDir}`])
    }
    expect(existsSync(join(workspace, 'kept'))).toBe(true)
    expect(existsSync(tempDir)).toBe(true)
  })
})

describe('an action.yml', () => {
  test('that is no JavaScript action, names no script, or needs what is not emulated is refused', () => {
    const folder = mkdtempSync(join(root, 'bad-'))
    const refuse = (manifest: object): void => {
      writeFileSync(join(folder, 'action.yml'), JSON.stringify(manifest))
      prepareStep({ actionDir: folder })
    }
    expect(() => refuse({ runs: { using: 'docker' } })).toThrow('"runs.using" is "docker"')
    expect(() => refuse({ runs: { using: 'node24' } })).toThrow('"runs.main" is missing')
    expect(() => refuse({ runs: { using: 'node24', main: 'a', pre: 'b' } })).toThrow('"runs.pre" is not emulated')
    expect(() => refuse({ runs: { using: 'node24', main: 'a', 'post-if': '${{ always() }}' } })).toThrow(
      '"runs.post-if"',
    )
  })
})
