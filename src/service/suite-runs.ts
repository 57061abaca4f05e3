import type { Clock } from '../clock.ts'
import { isFailure } from '../model/failure.ts'
import { untrusted } from '../text/untrusted.ts'
import { decodeStarted, decodeSuiteResult, decodeSuiteStatus, shortened } from './decode.ts'
import type { RunRequests, SendJson } from './requests.ts'
import { REQUEST_LIMIT_MS } from './transport.ts'

/** The older interface for test suites, as if it were a run of a project. It has no cancel. */
export function suiteRuns(send: SendJson, testSuiteId: string, clock: Clock): RunRequests {
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
      const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)
      const sentMs = clock.now()
      const suiteStatus = await send({ method: 'GET', path: [...path, 'status'] }, options, decodeSuiteStatus)
      if (isFailure(suiteStatus)) return suiteStatus
      if (suiteStatus !== 'FINISHED') {
        return { status: suiteStatus === 'RUNNING' ? 'RUNNING' : 'UNKNOWN', rawStatus: shortened(suiteStatus) }
      }
      // The two requests of one poll share its time limit.
      const leftMs = limitMs - (clock.now() - sentMs)
      const request = { method: 'GET', path: [...path, 'result'] } as const
      return send(request, { ...options, limitMs: leftMs }, (json, text, redact) => {
        const { status, testCases } = decodeSuiteResult(json, redact)
        return { status, rawStatus: untrusted(status), testCases, responseText: untrusted(text) }
      })
    },
  }
}
