import type { Clock } from '../clock.ts'
import type { Run } from '../outcome/run.ts'
import { untrusted } from '../outcome/untrusted.ts'
import { decodeSuiteResult, decodeSuiteStarted, decodeSuiteStatus, type SuiteResult } from './decode.ts'
import type { SendJson } from './http.ts'
import type { TestService } from './test-service.ts'

/** How long results may still be unfinished after the status says FINISHED. */
const SETTLING_LIMIT_MS = 30_000

const UNFINISHED = new Set(['RUNNING', 'QUEUED', 'RETRYING'])
const GOOD = new Set(['PASSED', 'FLAKY', 'SKIPPED'])

/** The older test-suite workflow (interface, section 4.4), told as if it were a run of a project. It has no cancel. */
export function suiteRuns(send: SendJson, testSuiteId: string, clock: Clock): TestService {
  let finishedAtMs: number | undefined
  return {
    async start(parameters, options) {
      const body = {
        environment: parameters.environment,
        variableOverrides: parameters.envOverrides,
        metadata: parameters.branch === undefined ? undefined : { git: { branch: parameters.branch } },
      }
      return decodeSuiteStarted(await send('POST', ['v1', 'testSuite', testSuiteId, 'run'], body, options))
    },
    async get(testSuiteRunId, options) {
      const path = ['v1', 'testSuiteRun', testSuiteRunId]
      if (finishedAtMs === undefined) {
        const answer = await send('GET', [...path, 'status'], undefined, options)
        const status = decodeSuiteStatus(answer)
        if (status !== 'FINISHED') {
          return {
            status: status === 'RUNNING' ? 'RUNNING' : 'UNKNOWN',
            rawStatus: untrusted(status),
            hasFinishedAt: false,
            raw: answer,
          }
        }
        finishedAtMs = clock.now()
      }
      const answer = await send('GET', [...path, 'result'], undefined, options)
      const result = decodeSuiteResult(answer)
      const isSettled = !result.statuses.some((status) => UNFINISHED.has(status))
      const status = isSettled || clock.now() - finishedAtMs >= SETTLING_LIMIT_MS ? verdictOf(result) : 'RUNNING'
      const hasFinishedAt = status !== 'RUNNING'
      return { status, rawStatus: untrusted(status), hasFinishedAt, testCases: result.testCases, raw: answer }
    },
  }
}

/** This workflow sends no verdict of its own. */
function verdictOf({ statuses }: SuiteResult): Run['status'] {
  const bad = statuses.filter((status) => !GOOD.has(status))
  if (bad.length === 0) return 'PASSED'
  return bad.every((status) => status === 'CANCELLED') ? 'CANCELLED' : 'FAILED'
}
