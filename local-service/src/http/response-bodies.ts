import type { Progress } from '../frameworks/report-reader.ts'
import type { TestCaseStatus } from '../reporters/report-writer.ts'
import type { Run } from '../runs/run.ts'

/**
 * Describes a run as the interface has it. What is not known yet is left out, except `startedAt`. Only a run that has not finished has
 * progress.
 */
export function describeRun({ phase, branchName }: Run, progress?: Progress): object {
  if (!('finishedAt' in phase)) return { startedAt: null, ...phase, branchName, progress }
  const { testCases, ...others } = phase
  return { ...others, branchName, results: { testCases } }
}

const STATUS_OF_CASE: Readonly<Record<TestCaseStatus, string>> = {
  PASSED: 'PASSED',
  FLAKY: 'FLAKY',
  FAILED: 'FAILED',
  TIMEDOUT: 'FAILED',
  INTERRUPTED: 'ERROR',
  SKIPPED: 'SKIPPED',
}

/**
 * The result has no status, so a client reads only the tests. If a run did not pass and no test is FAILED or ERROR, one
 * more entry says so. Until the run is finished, the only entry is the run's status.
 */
export function describeSuiteResult({ suite: testSuiteName = '', phase }: Run): object {
  if (!('finishedAt' in phase)) {
    return { testSuiteName, results: [{ testId: '1', testName: testSuiteName, status: phase.status }] }
  }
  const tests = phase.testCases.map(({ title, status }) => ({ testName: title, status: STATUS_OF_CASE[status] }))
  if (phase.status !== 'PASSED' && !tests.some(({ status }) => status === 'FAILED' || status === 'ERROR')) {
    const reason = phase.message === undefined ? '' : `: ${phase.message.split('\n', 1)[0]}`
    tests.push({ testName: `${testSuiteName}: the run as a whole is ${phase.status}${reason}`, status: 'ERROR' })
  }
  return { testSuiteName, results: tests.map((test, index) => ({ testId: String(index + 1), ...test })) }
}
