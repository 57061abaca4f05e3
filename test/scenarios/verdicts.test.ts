import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { placesThatShow } from '../../tools/runner-emulator/step-runner/runner.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED, scenario } from '../support/scenario.ts'

// test/action/step.test.ts tests the other statuses.
test.concurrent.each([
  ['PASSED', ONE_PASSED, 'passed', 'success', /^## ✅/],
  ['FAILED', ONE_OF_TWO_FAILED, 'failed', 'failure', /^## ❌ .*1 of 2.*rounds to cents/s],
])('the final status of a run is the verdict, in every place: %s', async (end, cases, conclusion, step, summary) => {
  await using one = await scenario({ script: { queuedMs: 100, runningMs: 200, end, cases } })
  const { main, post } = await one.step.run()

  expect(main.outputs).toMatchObject({ conclusion, status: end, total: String(cases.length) })
  expect(main.conclusion).toBe(step)
  expect(main.exitCode).toBe(step === 'success' ? 0 : 1)
  expect(main.annotations.some(({ level }) => level === 'error')).toBe(step === 'failure')
  expect(main.summary).toMatch(summary)
  expect(readdirSync(main.outputs['report-dir'] ?? '').sort()).toEqual(['ctrf.json', 'junit.xml', 'results.json'])
  expect(main.log.join('\n')).not.toMatch(/debug|for post/)
  expect(post.log).toEqual([])
  expect(placesThatShow(one.service.key, main)).toEqual([])
})
