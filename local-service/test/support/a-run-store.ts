import { onTestFinished } from 'vitest'
import type { RunOutcome } from '../../src/execution/outcome.ts'
import { resourcesOf } from '../../src/execution/resources.ts'
import { RunQueue } from '../../src/runs/queue.ts'
import { openRunStore, type RunStore } from '../../src/runs/store.ts'
import { PLAIN_ENV, temporaryFolder } from './a-local-service.ts'

export const RESOURCES = resourcesOf('1', '/none', ['podman'])

export const PASSED: RunOutcome = { status: 'PASSED', testCases: [{ title: 'adds', status: 'PASSED', durationMs: 3 }] }

export async function openStore(): Promise<RunStore> {
  const store = openRunStore(temporaryFolder())
  onTestFinished(() => store.close())
  return store
}

export function createQueue(store: RunStore, log: string[] = [], endWaitMs = 0): RunQueue {
  return new RunQueue({
    runLimitMinutes: 1,
    endWaitMs,
    store,
    serviceEnv: PLAIN_ENV,
    log: (text) => void log.push(text),
    logError: (text) => void log.push(text),
  })
}
