import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { projectFolder, startService, until } from '../support/a-local-service.ts'

/** The last test ends when the file is there. */
const WAITING = `
  import { existsSync } from 'node:fs'
  import { setTimeout } from 'node:timers/promises'
  import { test } from 'vitest'
  test('adds', () => {})
  test('subtracts', () => { throw new Error('no') })
  test.skip('divides', () => {})
  test('multiplies', async () => { while (!existsSync('go')) await setTimeout(20) }, 60_000)`

it.each([
  ['when the last file is loaded', {}, { total: 4, passed: 1, failed: 1, flaky: 0, skipped: 1 }],
  [
    'not before',
    { 'small.test.js': `import { test } from 'vitest'\ntest('counts', () => {})` },
    { passed: 1, failed: 1, flaky: 0, skipped: 1 },
  ],
])('the progress of a run of Vitest has the total %s', async (_, files, expected) => {
  // Vitest begins with the largest file.
  const config = 'export default { test: { fileParallelism: false } }'
  const folder = await projectFolder({ 'vitest.config.mjs': config, 'large.test.js': WAITING, ...files })
  const service = await startService({ projects: { shop: { folder } } })
  const runId = await service.startRun()
  const { progress } = await until(async () => {
    const { body } = await service.get(runId)
    return body.progress?.failed === 1 && body.progress.skipped === 1 && body
  })
  expect(progress).toEqual(expected)
  writeFileSync(join(folder, 'go'), '')
  expect(await service.waitFor(runId)).not.toHaveProperty('progress')
})
