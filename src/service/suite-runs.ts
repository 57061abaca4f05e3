import type { Clock } from '../clock.ts'
import { isFailure } from '../model/failure.ts'
import type { Run } from '../model/run.ts'
import { untrusted } from '../text/untrusted.ts'
import { decodeStarted, decodeSuiteResult, decodeSuiteStatus, shortened } from './decode.ts'
import type { RunRequests, SendJson } from './requests.ts'

/** How long results may still be unfinished after the status says FINISHED. */
const UNFINISHED_LIMIT_MS = 30_000

const UNFINISHED = new Set(['RUNNING', 'QUEUED', 'RETRYING'])
const GOOD = new Set(['PASSED', 'FLAKY', 'SKIPPED'])

/**
 * The older test-suite workflow, as if it were a run of a project: the paths /v1/testSuite and /v1/testSuiteRun in
 * docs/openapi.yaml. It has no cancel.
 */
export function suiteRuns(send: SendJson, testSuiteId: string, clock: Clock): RunRequests {
  /** When the status was first FINISHED. One value is enough, because a step reads only one run. */
  let finishedAtMs: number | undefined
  return {
    start(parameters, options) {
      const body = {
        environment: parameters.environment,
        variableOverrides: parameters.envOverrides,
        metadata: parameters.branch === undefined ? undefined : { git: { branch: parameters.branch } },
      }
      const path = ['v1', 'testSuite', testSuiteId, 'run']
      return send({ method: 'POST', path, body }, options, (json) => decodeStarted(json, 'testSuiteRunId'))
    },
    async get(testSuiteRunId, options) {
      const path = ['v1', 'testSuiteRun', testSuiteRunId]
      if (finishedAtMs === undefined) {
        const status = await send({ method: 'GET', path: [...path, 'status'] }, options, decodeSuiteStatus)
        if (isFailure(status)) return status
        if (status !== 'FINISHED') {
          const known = status === 'RUNNING' ? status : 'UNKNOWN'
          return { status: known, rawStatus: shortened(status) }
        }
        finishedAtMs = clock.now()
      }
      const deadlineMs = finishedAtMs + UNFINISHED_LIMIT_MS
      return send({ method: 'GET', path: [...path, 'result'] }, options, (json, text, redact) => {
        const testCases = decodeSuiteResult(json, redact)
        const statuses = testCases.map(({ rawStatus }) => String(rawStatus))
        const mayStillChange = statuses.some((status) => UNFINISHED.has(status)) && clock.now() < deadlineMs
        const status = mayStillChange ? 'RUNNING' : statusOfResults(statuses)
        return { status, rawStatus: untrusted(status), testCases, responseText: untrusted(text) }
      })
    },
  }
}

function statusOfResults(statuses: readonly string[]): Run['status'] {
  const bad = statuses.filter((status) => !GOOD.has(status))
  if (bad.length === 0) return 'PASSED'
  return bad.every((status) => status === 'CANCELLED') ? 'CANCELLED' : 'FAILED'
}
