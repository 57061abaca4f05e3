import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type NeededJob, playJob } from '../../tools/runner-emulator/job-player/job.ts'
import { patientRunner } from '../support/scenario.ts'
import { folderOfTests } from '../support/temporary-folder.ts'

// Plays jobs of our own workflows as GitHub would run them, as far as one machine can do that.

/** A folder with an `npm` that installs nothing, because the packages are there. */
const commands = folderOfTests()
writeFileSync(join(commands, 'npm'), '#!/bin/sh\ntest "$1" = ci\n', { mode: 0o755 })

test('the job "action" of CI succeeds: a pass, a failure, a run awaited later, a step over its time limit', async () => {
  const played = await playJob('.github/workflows/ci.yml', 'action', {
    interrupt: { during: 'hangs', on: /RUNNING/, by: 'timeout' },
    sleep: patientRunner,
    commands,
  })
  expect(played, played.log).toMatchObject({ result: 'success' })
})

test('the job "shop" of CI succeeds: the web shop passes, and fails with a bug', async () => {
  const played = await playJob('.github/workflows/ci.yml', 'shop', { commands })
  expect(played, played.log).toMatchObject({ result: 'success' })
})

// GitHub's runners have jq.
describe.skipIf(spawnSync('jq', ['--version']).status !== 0)('the workflow Cancel', () => {
  const outputs = { 'run-id': 'run-7', conclusion: 'cancelled', status: 'CANCELLED' }
  const container = { result: 'cancelled' } as const
  const replace = { result: 'success' } as const

  /** Plays the last job. `post` is the conclusion of the post step that asks the service in the container. */
  async function judge(step: NeededJob, post: string) {
    const steps = [{ name: 'A run that hangs' }, { name: 'Post The run is cancelled at the end', conclusion: post }]
    writeFileSync(join(commands, 'gh'), `#!/bin/bash\njq --raw-output "\${@: -1}" "$0.json"\n`, { mode: 0o755 })
    writeFileSync(join(commands, 'gh.json'), JSON.stringify({ jobs: [{ steps: [] }, { steps }] }))
    const needs = { step, container, replace }
    return await playJob('.github/workflows/cancel.yml', 'cancelled', { needs, commands })
  }

  test('finds that a cancelled step left no run behind', async () => {
    const step = await playJob('.github/workflows/cancel.yml', 'step', {
      interrupt: { during: 'hangs', on: /RUNNING/, by: 'cancel' },
      sleep: patientRunner,
      commands,
    })
    expect(step, step.log).toMatchObject({ result: 'cancelled', outputs: { status: 'CANCELLED' } })
    const judged = await judge(step, 'success')
    expect(judged, judged.log).toMatchObject({ result: 'success' })
  })

  test.each([
    ['on the machine', 'RUNNING', 'success'],
    ['in the container', 'CANCELLED', 'failure'],
  ])('fails if the step %s leaves a run behind', async (_, status, post) => {
    const step = { result: 'cancelled', outputs: { ...outputs, status } } as const
    expect(await judge(step, post)).toMatchObject({ result: 'failure' })
  })
})

const NEEDED = ['test', 'action', 'container', 'shop', 'workflows']
const play = (ends: Readonly<Record<string, 'failure' | 'cancelled' | 'skipped'>>) => {
  const needs = Object.fromEntries(NEEDED.map((job) => [job, { result: ends[job] ?? ('success' as const) }]))
  return playJob('.github/workflows/ci.yml', 'ci', { needs })
}

test.each([
  [{}, 'success'],
  [{ test: 'skipped' }, 'failure'],
  [{ action: 'failure' }, 'failure'],
  [{ container: 'failure' }, 'failure'],
  [{ shop: 'skipped' }, 'failure'],
  [{ workflows: 'cancelled' }, 'failure'],
] as const)('the check to require is never skipped, and after %j it is a %s', async (ends, result) => {
  expect(await play(ends)).toMatchObject({ result })
})
