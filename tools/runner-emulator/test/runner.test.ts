// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import { readFileSync, realpathSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { isAlive } from '../../../test/support/is-alive.ts'
import { folderOfTests } from '../../../test/support/temporary-folder.ts'
import { placesThatShow, prepareStep, type Step, type StepOptions } from '../step-runner/runner.ts'
import { type ActionFixture, pidIn, STUBBORN, spawning, writeAction } from './fixture.ts'

// These tests check what no recording shows: how a process starts, and how the runner ends it.

const root = folderOfTests()
const steps: Step[] = []

afterEach(async () => {
  await Promise.all(steps.splice(0).map((step) => step.dispose()))
})

function prepare(fixture: ActionFixture, options: StepOptions = {}): Step {
  const step = prepareStep({ actionDir: writeAction(root, fixture), ...options })
  steps.push(step)
  return step
}

async function runMain(main: string, options: StepOptions = {}, inputs: ActionFixture['inputs'] = {}) {
  return prepare({ main, inputs }, options).startMain().result()
}

async function environment(options: StepOptions = {}, inputs: ActionFixture['inputs'] = {}) {
  const { outputs } = await runMain(`put('OUTPUT', 'env=' + JSON.stringify(process.env))`, options, inputs)
  return JSON.parse(outputs.env ?? '') as Readonly<Record<string, string>>
}

describe('a process is started', () => {
  test.runIf(process.platform === 'linux')(
    'by this very node, in the workspace, with stdin at its end, in the process group of the runner',
    async () => {
      const groupOf = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(')')).split(' ')[3]
      const step = prepare({
        main: `put('OUTPUT', 'facts=' + JSON.stringify({
  node: process.execPath, arguments: process.argv.slice(2), cwd: process.cwd(), stdin: fs.readFileSync(0, 'utf8'),
}))
put('OUTPUT', '\\nstat=' + fs.readFileSync('/proc/self/stat', 'utf8'))`,
      })
      const { outputs } = await step.startMain().result()
      const node = realpathSync(process.execPath)
      expect(JSON.parse(outputs.facts ?? '')).toEqual({ node, arguments: [], cwd: step.workspace, stdin: '' })
      expect(groupOf(outputs.stat ?? '')).toBe(groupOf(readFileSync('/proc/self/stat', 'utf8')))
    },
  )

  test('with the variables of GitHub, of the runner and of the step, and without those of the machine', async () => {
    process.env.HTTPS_PROXY = 'http://machine.invalid'
    try {
      const payload = { number: 7, pull_request: { head: { ref: 'topic' } } }
      const env = await environment({
        event: { name: 'pull_request', payload },
        github: { actor: 'dependabot[bot]' },
        env: { GITHUB_ACTIONS: 'false', MY_NAME: 'mine' },
      })
      expect(env).toMatchObject({
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTOR: 'dependabot[bot]',
        GITHUB_HEAD_REF: 'topic',
        GITHUB_REF_NAME: '7/merge',
        MY_NAME: 'mine',
        RUNNER_TEMP: expect.any(String),
      })
      for (const name of ['GITHUB_ACTION_PATH', 'GITHUB_TOKEN', 'GITHUB_EVENT', 'RUNNER_DEBUG', 'HTTPS_PROXY'])
        expect(env).not.toHaveProperty(name)
    } finally {
      delete process.env.HTTPS_PROXY
    }
  })

  test('with all inputs; a given value wins over the default, even if it is empty, and stays as written', async () => {
    const inputs = {
      'base-url': { required: true },
      wait: { default: true },
      minutes: { default: 60 },
      matrix: { default: '${{ toJSON(matrix) }}' },
      status: { default: '${{ job.status }}' },
      'check-run-id': { default: '${{ job.check_run_id }}' },
    }
    const given = { wait: '', 'base-url': '${{ github.token }}' }
    const env = await environment({ matrix: { node: 24 }, inputs: given }, inputs)
    expect(env).toMatchObject({
      'INPUT_BASE-URL': '${{ github.token }}',
      INPUT_WAIT: '',
      INPUT_MINUTES: '60',
      INPUT_MATRIX: '{\n  "node": 24\n}',
      INPUT_STATUS: 'success',
      'INPUT_CHECK-RUN-ID': expect.stringMatching(/^\d+$/),
    })
  })
})

describe('the end of a process', () => {
  test('is a failure if the log has a command that no action of ours writes', async () => {
    const main = await runMain(`console.log('::set-output name=a::b')`)
    expect(main).toMatchObject({ conclusion: 'failure', outputs: {} })
  })

  test.each([
    ['the first warnings', `console.log('::warning::' + 'x'.repeat(255) + '😀')`],
    ['any notice', `console.log('::notice::' + 'x'.repeat(4095) + '😀')`],
  ])('has no result if the worker would abort, because it cuts the emoji in %s', async (_, main) => {
    await expect(runMain(main)).rejects.toThrow('surrogate pair: "xxx')
  })

  test('has a result if no cut falls into the emoji, or if the message is a later one', async () => {
    const main = `for (const n of [254, 256, 257, 255]) console.log('::error::' + 'x'.repeat(n) + '😀')`
    expect((await runMain(main)).annotations).toHaveLength(4)
  })

  test('comes five seconds after the exit if another process holds a pipe', async () => {
    const waits: number[] = []
    const sleep = async (ms: number) => {
      waits.push(ms)
      await main.waitForLine(/child/)
    }
    const main = prepare({ main: `${spawning({ stdio: 'inherit' })}; process.exit(0)` }, { sleep }).startMain()
    const { conclusion, log } = await main.result()
    expect([conclusion, waits]).toEqual(['success', [5000]])
    expect(isAlive(pidIn(log[0]))).toBe(true)
  })
})

const POLITE = `process.on('SIGINT', () => process.exit(0)); console.log('ready'); hang()`
const SEES_STATUS = {
  post: `console.log(process.env.INPUT_STATUS)`,
  inputs: { status: { default: '${{ job.status }}' } },
}

describe('a step', () => {
  test('that is cancelled gets SIGINT, after 7.5 s SIGTERM, and after another 2.5 s SIGKILL', async () => {
    const waits: number[] = []
    const next = [/got SIGINT/, /got SIGTERM/]
    const main = prepare(
      { main: STUBBORN },
      {
        sleep: async (ms) => {
          waits.push(ms)
          await main.waitForLine(next.shift() ?? /never/)
        },
      },
    ).startMain()
    await main.waitForLine(/ready/)
    const result = await main.end('cancel')
    expect(waits.slice(0, 2)).toEqual([7500, 2500])
    expect(result).toMatchObject({
      conclusion: 'cancelled',
      signal: 'SIGKILL',
      signalsSent: ['SIGINT', 'SIGTERM', 'SIGKILL'],
      log: ['ready', 'got SIGINT', 'got SIGTERM', '##[error]The operation was canceled.'],
    })
  })

  test('that ends at SIGINT is cancelled whatever its exit code, and post sees a cancelled job', async () => {
    const step = prepare({ main: POLITE, ...SEES_STATUS })
    const { main, post, jobStatus } = await step.run({ on: /ready/, by: 'cancel' })
    expect(main).toMatchObject({ conclusion: 'cancelled', exitCode: 0, signalsSent: ['SIGINT'] })
    expect(post).toMatchObject({ conclusion: 'success', log: ['cancelled'] })
    expect(jobStatus).toBe('cancelled')
  })

  test('gets a signal only for its own process, and its children get none', async () => {
    const child = `process.on('SIGINT', () => console.log('child too')); console.log('child ready'); setTimeout(() => {}, 300)`
    const main = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' })
process.on('SIGINT', () => process.exit(0)); hang()`
    const end = await prepare({ main }).run({ on: /child ready/, by: 'cancel' })
    expect(end.main.log).toEqual(['child ready', '##[error]The operation was canceled.'])
  })

  test('that finishes before the cancel is not cancelled', async () => {
    const end = await prepare({ main: `console.log('done')` }).run({ on: 60_000, by: 'cancel' })
    expect(end).toMatchObject({ jobStatus: 'success', main: { conclusion: 'success', signalsSent: [] } })
  })

  test('that exceeds its time limit fails, and post that exceeds it fails too', async () => {
    const step = prepare({ main: POLITE, post: POLITE })
    for (const start of [() => step.startMain(), () => step.startPost()]) {
      const process = await start()
      await process.waitForLine(/ready/)
      const { conclusion, log } = await process.end('timeout')
      expect({ conclusion, last: log.at(-1) }).toEqual({
        conclusion: 'failure',
        last: "##[error]The action 'Fixture' has timed out.",
      })
    }
    expect(step.jobStatus).toBe('failure')
  })
})

test('a secret is found wherever it appears, in any form', async () => {
  const ended = await runMain(`console.log('::error title=key-1234::' + Buffer.from('key-1234').toString('base64'))
put('OUTPUT', 'url=x?key%2D1234\\nkey=key-1234\\n'); put('STEP_SUMMARY', 'key-1234')`)
  expect(placesThatShow('key-1234', ended)).toEqual(['log', 'summary', 'outputs', 'titles', 'messages'])
  expect(placesThatShow('key-5678', ended)).toEqual([])
})
