// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderOfTests } from '../../../test/support/temporary-folder.ts'
import { type JobOptions, type PlayedJob, playJob } from '../job-player/job.ts'
import { writeAction } from './fixture.ts'

const root = folderOfTests()

/** Plays a job in which `./` is an action with this main. */
function play(main: string, steps: readonly object[], options: JobOptions = {}): Promise<PlayedJob> {
  const actionDir = writeAction(root, { main })
  const file = join(actionDir, 'workflow.yml')
  writeFileSync(file, JSON.stringify({ jobs: { test: { steps } } }))
  return playJob(file, 'test', { actionDir, ...options })
}

const GATE = { id: 'gate', uses: './', background: true }
/** The background step goes on when another script tells it to. */
const AFTER_A_FILE = `const timer = setInterval(() => {
  if (!fs.existsSync(process.env.RUNNER_TEMP + '/go')) return
  clearInterval(timer); put('OUTPUT', 'a=1\\n'); console.log('gate ends'); end()
}, 10)
const end = () => {}`
const GO = { if: 'always()', run: 'touch ../temp/go' }
const TELL = { name: 'tell', if: 'always()', run: 'echo "<${{ steps.gate.outcome }} ${{ steps.gate.outputs.a }}>"' }
describe.concurrent('a background step', () => {
  test('has outcome and outputs only after `wait`', async () => {
    const { result, log } = await play(AFTER_A_FILE, [GATE, TELL, GO, { wait: 'gate' }, TELL])
    expect(log.match(/^<.*>$/gm)).toEqual(['< >', '<success 1>'])
    expect(result).toBe('success')
  })

  test.each([{ wait: ['gate'] }, { run: 'true' }])('that fails makes the job fail at %j', async (step) => {
    const failing = AFTER_A_FILE.replace('end = () => {}', 'end = () => process.exit(1)')
    const { result, log } = await play(failing, [GATE, GO, step, TELL])
    expect(result).toBe('failure')
    expect(log).toContain('run' in step ? '< >' : '<failure 1>')
  })
})

test('a step whose `if` holds even in a cancelled job gets no signal', async () => {
  const main = `process.on('SIGINT', () => console.log('got SIGINT')); console.log('ready'); setTimeout(() => console.log('cleaned'), 200)`
  const options = { interrupt: { during: 'cleanup', on: /ready/, by: 'cancel' } } as const
  const { result, log } = await play(main, [{ id: 'cleanup', uses: './', if: 'always()' }], options)
  expect(result).toBe('cancelled')
  expect(log).toMatch(/ready\ncleaned$/)
})
