import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importing, type Scenario, scenario } from '../support/scenario.ts'

// What main leaves for post, also if another step changes it. test/handover/main-file.test.ts and test/simulation test all cases of main's
// file.

function remove({ step: { tempDir } }: Scenario, name: RegExp): void {
  const names = readdirSync(tempDir).filter((found) => name.test(found))
  expect(names).not.toEqual([])
  for (const found of names) rmSync(join(tempDir, found), { recursive: true })
}

test.concurrent.each([
  ['empties the temporary folder', /./],
  ['removes only main’s file', /^test-run-action-/],
])('if a background step %s, main says so and cancels its run', async (_, name) => {
  await using one = await scenario({ script: { runningMs: Infinity } })
  const main = one.step.startMain()
  // After the first poll, because main has then set its outputs.
  await one.service.waitForRequest('get', 2)
  remove(one, name)
  const { exitCode, annotations, log } = await main.result()
  expect(exitCode).toBe(1)
  expect(annotations.filter(({ level }) => level === 'error')).toMatchObject([
    {
      message: expect.stringMatching(/^The job has ended while run .*another step has probably removed the files/),
    },
  ])
  expect(log.join('\n')).not.toMatch(/The workflow was cancelled|Outputs or the job summary could not be written/)
  expect(one.service.runs).toMatchObject([{ status: 'CANCELLED' }])
  const post = await one.step.runPost()
  expect(post).toMatchObject({ conclusion: 'success', log: [] })
})

test.concurrent('if main crashes, post cancels its run at the announced service, and the debug log shows what post found', async () => {
  const crash = importing(`
    const write = process.stdout.write
    process.stdout.write = function (text, ...rest) {
      if (/: RUNNING/.test(text)) setImmediate(() => { throw new Error('a bug') })
      return write.call(this, text, ...rest)
    }`)
  const script = { runId: 'run-1', runningMs: Infinity }
  await using one = await scenario({ isAnnounced: true, env: { NODE_OPTIONS: crash }, debug: true, script })
  const { main, post } = await one.step.run()
  expect(main).toMatchObject({ exitCode: 1, conclusion: 'failure' })
  expect(post.log.slice(0, -1).join('\n')).toMatch(
    /Post found .*test-run-action-.*: \{"phase":"started","runId":"run-1","mayCancel":true\}[\s\S]*runs\/cancel: status 200/,
  )
  expect(post.log.at(-1)).toBe('Run run-1 was cancelled.')
  expect(one.service.runs).toMatchObject([{ status: 'CANCELLED' }])
})

test.concurrent('a post that crashes warns, and does not fail the job', async () => {
  const crash = `if (/[\\\\/]post[\\\\/]/.test(process.argv[1])) process.uptime = () => { throw new Error('a bug') }`
  await using one = await scenario({ script: { runningMs: Infinity }, env: { NODE_OPTIONS: importing(crash) } })
  const { post } = await one.step.run({ on: /RUNNING/, by: 'kill' })
  expect(post).toMatchObject({
    conclusion: 'success',
    exitCode: 0,
    annotations: [{ level: 'warning', message: expect.stringContaining('a bug') }],
  })
})
