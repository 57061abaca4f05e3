import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JobResult } from '../../tools/runner-emulator/step-runner/runner.ts'
import { type Scenario, scenario } from '../support/scenario.ts'

// In a job with a container, the runner's signals do not reach main, and post runs while main still lives. docs/cancelling.md
// says what post then does.

const HANGING = { runningMs: Infinity }

function expectNoRunLeft({ service, step }: Scenario): void {
  expect(service.runs).toMatchObject([{ status: 'CANCELLED' }])
  expect(ownFiles(step.tempDir)).toEqual([])
}

function ownFiles(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.filter((name) => name.startsWith('test-run-action-'))
}

/** Post told main to end, and had nothing to cancel. The container may end before main exits, but not before main's cancel. */
async function expectMainEndedByPost({ main, mainExit, post }: JobResult): Promise<void> {
  expect(main.signalsSent).toEqual([])
  await mainExit
  expect(post.log.join('\n')).not.toContain('Cancelling run')
  expect(post.annotations).toEqual([])
}

const inStart = (one: Scenario) => one.service.waitForRequest('start')
const whilePolling = (one: Scenario) => one.service.waitForRequest('get', 2)

describe.concurrent('a job in a container is cancelled', () => {
  test('while polling', async () => {
    await using one = await scenario({ script: HANGING, container: 'docker' })
    await expectMainEndedByPost(await one.step.run({ on: whilePolling(one), by: 'cancel' }))
    expectNoRunLeft(one)
  })

  test('in a start whose response comes after post has begun', async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>()
    const onLogLine = (line: string) => void (line.includes("The step's process is still running") && resolve())
    const faults = [{ on: 'start', until }] as const
    await using one = await scenario({ script: HANGING, container: 'hooks without volume', faults, onLogLine })
    await expectMainEndedByPost(await one.step.run({ on: inStart(one), by: 'cancel' }))
    expectNoRunLeft(one)
  })
})

test.concurrent.each([
  ['in a poll without a response', whilePolling, 'get'],
  ['in a start, whose response comes later', inStart, 'start'],
] as const)('on a shutdown %s, main sees that its folder is empty, and cancels its run', async (_, when, on) => {
  const emptied = Promise.withResolvers<void>()
  const faults = [on === 'get' ? { on, from: 2, do: 'hang' as const } : { on, until: emptied.promise }]
  await using one = await scenario({ script: HANGING, container: 'docker', faults })
  const { mainExit } = await one.step.run({ on: when(one), by: 'shutdown' })
  emptied.resolve()
  expect(await mainExit).toMatchObject({ signal: null })
  expectNoRunLeft(one)
})
