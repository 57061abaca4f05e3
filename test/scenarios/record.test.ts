import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ONE_OF_TWO_FAILED, ONE_PASSED, type Scenario, scenario } from '../support/scenario.ts'

// A step that runs at the same time as main removes what main wrote down for post. test/handover/record.test.ts and
// test/simulation test all cases of the record.

const POLL_MS = 50
const inputs = { 'poll-interval-seconds': String(POLL_MS / 1_000) }

/** Removes from the runner's temporary folder what has such a name. */
function remove({ step: { tempDir } }: Scenario, name: RegExp): void {
  const names = readdirSync(tempDir).filter((found) => name.test(found))
  expect(names).not.toEqual([])
  for (const found of names) rmSync(join(tempDir, found), { recursive: true })
}

test.concurrent('if a background step empties the temporary folder, main says so and cancels its run', async () => {
  await using one = await scenario({ script: { runningMs: Infinity } })
  const main = one.step.startMain()
  // After the first poll, because main has then set its outputs.
  await one.service.waitForRequest('get', 2)
  remove(one, /./)
  const { exitCode, annotations, log } = await main.result()
  expect(exitCode).toBe(1)
  expect(annotations.filter(({ level }) => level === 'error')).toMatchObject([
    { message: expect.stringContaining("The runner's temporary folder was emptied") },
  ])
  expect(log.join('\n')).not.toMatch(/The workflow was cancelled|Outputs or the job summary could not be written/)
  expect(one.service.runs).toMatchObject([{ status: 'CANCELLED' }])
  const post = await one.step.runPost()
  expect(post).toMatchObject({ conclusion: 'success', log: [] })
})

test.concurrent('if only main’s file was removed, main goes on, and post has nothing to do', async () => {
  await using one = await scenario({ script: { runningMs: Infinity }, inputs })
  const main = one.step.startMain()
  await one.service.waitForRequest('get')
  remove(one, /^test-run-action-/)
  // Main looks for its file once a second, by the clock that also times its polls.
  await Promise.race([one.service.waitForRequest('get', 1 + 2_000 / POLL_MS), main.result()])
  one.service.finishRun(one.service.runs[0]?.runId ?? '', 'PASSED', ONE_PASSED)
  expect(await main.result()).toMatchObject({ exitCode: 0, annotations: [], outputs: { conclusion: 'passed' } })
  const post = await one.step.runPost()
  expect(post).toMatchObject({ conclusion: 'success', log: [] })
  expect(readdirSync(one.step.tempDir).filter((name) => name.startsWith('test-run-action-'))).toEqual([])
})

test.concurrent('if the folder is emptied while main cancels its run, main writes nothing to it any more', async () => {
  const emptied = Promise.withResolvers<void>()
  const faults = [{ on: 'cancel', do: { status: 400, body: { error: 'finished' } }, until: emptied.promise }] as const
  await using one = await scenario({ script: { runningMs: Infinity }, faults })
  const main = one.step.startMain()
  await one.service.waitForRequest('get', 2)
  // As post does in a container.
  main.signal('SIGHUP')
  await one.service.waitForRequest('cancel')
  // With results, because main writes report files only then.
  one.service.finishRun(one.service.runs[0]?.runId ?? '', 'FAILED', ONE_OF_TWO_FAILED)
  remove(one, /./)
  emptied.resolve()
  const { exitCode, annotations } = await main.result()
  expect(exitCode).toBe(1)
  expect(annotations).toContainEqual(expect.objectContaining({ level: 'error', title: 'Step cancelled' }))
  expect(readdirSync(one.step.tempDir)).toEqual([])
})
