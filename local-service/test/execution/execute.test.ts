import { expect, it } from 'vitest'
import { executeRun } from '../../src/execution/execute.ts'
import type { Framework } from '../../src/frameworks/framework.ts'
import { unusable } from '../../src/frameworks/unusable.ts'
import { runContextIn, temporaryFolder } from '../support/a-local-service.ts'

/** The outcome of a run whose framework is called so. */
function outcomeOf(prepareCall: Framework['prepareCall']) {
  const folder = temporaryFolder()
  const context = runContextIn(folder, {}, { folder, framework: 'vitest' })
  const framework = { ...context.project.framework, packages: [], prepareCall }
  const project = { ...context.project, framework }
  return executeRun({ ...context, project }, () => undefined)
}

it.each([
  ['over-limit', 'FAILED'],
  ['unusable', 'INTERRUPTED'],
] as const)('a run whose reports cannot be read, because they are %s, is %s and says why', async (kind, status) => {
  const reason = 'The report "a.xml" cannot be read.'
  const call = { argv: undefined, title: 'vitest', replacesReporters: false }
  const outcome = await outcomeOf(async () => ({ ...call, readJunitFiles: async () => unusable(reason, kind) }))
  expect(outcome).toMatchObject({ status, testCases: [], message: reason })
})
