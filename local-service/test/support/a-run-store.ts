import { onTestFinished } from 'vitest'
import type { RunOutcome } from '../../src/execution/outcome.ts'
import { openRunStore, type RunStore } from '../../src/runs/store.ts'
import { temporaryFolder } from './a-local-service.ts'

export const RESOURCES = {
  runFolder: '/runs/1',
  frameworkFolder: '/runs/1/framework',
  privateFolder: '/tmp/1',
  testsTemporaryFolder: '/tmp/1/tmp',
  tree: '/trees/1',
}

export const PASSED: RunOutcome = { status: 'PASSED', testCases: [{ title: 'adds', status: 'PASSED', durationMs: 3 }] }

export async function openStore(): Promise<RunStore> {
  const store = openRunStore(await temporaryFolder())
  onTestFinished(() => {
    try {
      store.close()
    } catch {
      // The test has closed it.
    }
  })
  return store
}
