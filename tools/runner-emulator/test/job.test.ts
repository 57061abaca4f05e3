// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type JobOptions, type PlayedJob, playJob } from '../job.ts'
import { STUBBORN, writeAction } from './fixture.ts'

let root = ''

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'job-test-')))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Plays a job whose first step runs the action in the background, with the id `gate`. */
function play(main: string, steps: readonly object[], options: JobOptions = {}, post = ''): Promise<PlayedJob> {
  const actionDir = writeAction(root, { main, post })
  const file = join(actionDir, 'workflow.yml')
  const gate = { id: 'gate', uses: './', background: true }
  writeFileSync(file, JSON.stringify({ jobs: { test: { steps: [gate, ...steps] } } }))
  return playJob(file, 'test', { actionDir, ...options })
}

/** The background step goes on when the script before it says so. */
const AFTER_A_FILE = `const timer = setInterval(() => {
  if (!fs.existsSync(process.env.RUNNER_TEMP + '/go')) return
  clearInterval(timer); put('OUTPUT', 'a=1\\n'); console.log('gate ends'); end()
}, 10)
const end = () => {}`
const GO = { if: 'always()', run: 'touch ../temp/go' }
const TELL = { name: 'tell', if: 'always()', run: 'echo "<${{ steps.gate.outcome }} ${{ steps.gate.outputs.a }}>"' }
describe.concurrent('a background step', () => {
  test('has outcome and outputs only after `wait`', async () => {
    const { result, log } = await play(AFTER_A_FILE, [TELL, GO, { wait: 'gate' }, TELL])
    expect(log.match(/^<.*>$/gm)).toEqual(['< >', '<success 1>'])
    expect(result).toBe('success')
  })

  test.each([{ wait: ['gate'] }, { run: 'true' }])('that fails fails the job at %j', async (step) => {
    const failing = AFTER_A_FILE.replace('end = () => {}', 'end = () => process.exit(1)')
    const { result, log } = await play(failing, [GO, step, TELL])
    expect(result).toBe('failure')
    expect(log).toContain('run' in step ? '< >' : '<failure 1>')
  })

  test('of a cancelled job is given up after 7.5 s, and post runs beside it without its state', async () => {
    const main = `fs.writeFileSync(process.env.RUNNER_TEMP + '/pid', String(process.pid)); put('STATE', 's=1\\n'); ${STUBBORN}`
    const post = `process.kill(Number(fs.readFileSync(process.env.RUNNER_TEMP + '/pid')), 0)
console.log('main lives, state ' + process.env.STATE_s)`
    const waits: number[] = []
    const sleep = async (ms: number) => {
      waits.push(ms)
      await (ms === 7_500 ? delay(10) : new Promise(() => {}))
    }
    const options = { cancel: { during: 'gate', on: /ready/ }, sleep }
    const { result, log } = await play(main, [{ run: 'exec sleep 60' }, TELL], options, post)
    expect(result).toBe('cancelled')
    expect(log).toMatch(/< >.*main lives, state undefined$/s)
    expect(waits.slice(0, 3)).toEqual([7_500, 7_500, 2_500])
  })

  test('of a cancelled job gets no signal if its `if` holds even then', async () => {
    const main = `const { RUNNER_TEMP, INPUT_ROLE } = process.env
const until = (name, then) => setInterval(() => { if (fs.existsSync(RUNNER_TEMP + '/' + name)) then() }, 10)
process.on('SIGINT', () => { console.log(INPUT_ROLE + ' got SIGINT'); fs.writeFileSync(RUNNER_TEMP + '/cancelled', ''); process.exit(1) })
if (INPUT_ROLE === 'gate') until('cleaning', () => console.log('ready'))
else { fs.writeFileSync(RUNNER_TEMP + '/cleaning', ''); until('cancelled', () => { console.log('cleaned'); process.exit(0) }) }`
    const actionDir = writeAction(root, { main, inputs: { role: { default: '${{ github.action }}' } } })
    const file = join(actionDir, 'workflow.yml')
    const gate = { id: 'gate', uses: './', background: true }
    const cleanup = { id: 'cleanup', uses: './', if: 'always()' }
    writeFileSync(file, JSON.stringify({ jobs: { test: { steps: [gate, cleanup] } } }))
    const options = { actionDir, cancel: { during: 'gate', on: /ready/ }, sleep: () => new Promise(() => {}) }
    const { result, log } = await playJob(file, 'test', options)
    expect(result).toBe('cancelled')
    expect(log).toContain('gate got SIGINT')
    expect(log).toContain('cleaned')
    expect(log).not.toContain('cleanup got SIGINT')
  })
})
