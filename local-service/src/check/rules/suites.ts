import type { Endpoint } from '../exchange.ts'
import { isAccepted, jsonOf, show } from '../observations.ts'
import { accepted, everyAnswer, isText, probes, refused } from './judging.ts'
import { documented, type Judge, reliedOn } from './rule.ts'

export const SUITES = {
  'suite-start': documented('startTestSuite', 'A test suite can be started.', accepts('suite-start'), '--suite'),
  'suite-start-unknown': documented(
    'NotFound',
    'A start of an unknown test suite is refused: 4xx.',
    probes(refused),
    '--suite',
  ),
  'suite-status': documented(
    'getTestSuiteRunStatus',
    "The status of a test suite's run can be read.",
    accepts('suite-status'),
    '--suite',
  ),
  'suite-result': documented(
    'getTestSuiteRunResult',
    'The results of a finished run can be read.',
    accepts('suite-result'),
    '--suite',
  ),
  'suite-unknown': documented(
    'NotFound',
    'A read of a run that does not exist is refused: 4xx.',
    probes(refused),
    '--suite',
  ),
  'suite-fields': reliedOn(
    'StartTestSuiteResponse, TestSuiteRunStatus, TestSuiteRunResult',
    'The start of a test suite returns "testSuiteRunId", the status returns "status", and the result returns "results".',
    everyAnswer((one) => {
      const { testSuiteRunId, status, results } = jsonOf(one)
      if (!isAccepted(one) || one.probe !== undefined || !one.endpoint.startsWith('suite-')) return undefined
      if (one.endpoint === 'suite-start') return isText(testSuiteRunId) || `"testSuiteRunId" is ${show(testSuiteRunId)}`
      if (one.endpoint === 'suite-result') return Array.isArray(results) || `"results" is ${show(results)}`
      return status === 'RUNNING' || status === 'FINISHED' || `"status" is ${show(status)}`
    }),
    '--suite',
  ),
}

function accepts(endpoint: Endpoint): Judge {
  return everyAnswer((exchange) => (exchange.endpoint === endpoint && !exchange.probe ? accepted(exchange) : undefined))
}
