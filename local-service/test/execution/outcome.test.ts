import { expect, it } from 'vitest'
import { toOutcome } from '../../src/execution/outcome.ts'
import type { Report, TestCase } from '../../src/frameworks/report.ts'
import type { CommandEnd } from '../../src/machine/command.ts'

const output = 'printed\n'
const PASSED: TestCase = { title: 'adds', status: 'PASSED', durationMs: 1 }
const FAILED: TestCase = { title: 'pays', status: 'FAILED', durationMs: 1, message: 'Error: no money' }
const RUNNING: TestCase = { title: 'waits', status: 'INTERRUPTED', durationMs: 1 }
const COMPLETE: Report = { testCases: [PASSED], isComplete: true, errors: [], said: [] }

const ENDS = {
  'exit 0': { kind: 'exited', code: 0, output },
  'exit 1': { kind: 'exited', code: 1, output },
  // As a shell exits whose command was killed.
  'exit 137': { kind: 'exited', code: 137, output },
  signal: { kind: 'cut-off', how: 'was killed by SIGKILL', output },
  'no command': { kind: 'no-command', output: '' },
} as const satisfies Record<string, CommandEnd>

const REPORTS = {
  complete: COMPLETE,
  'cut off': { ...COMPLETE, testCases: [PASSED, RUNNING], isComplete: false },
  'no report': undefined,
  broken: { ...COMPLETE, isComplete: false, problem: 'its report is cut off' },
  'over a limit': { ...COMPLETE, isComplete: false, mustFail: true, problem: 'its report is too large' },
  'broken, failed cases': { ...COMPLETE, testCases: [FAILED], isComplete: false, problem: 'its report is cut off' },
  'failed cases': { ...COMPLETE, testCases: [PASSED, FAILED] },
  'failed cases, framework errors': { ...COMPLETE, testCases: [PASSED, FAILED], errors: ['Error: lost'] },
  'framework errors': { ...COMPLETE, errors: ['Error: lost'] },
  'failure of no case': { ...COMPLETE, problem: 'its report counts 3 failures and lists none' },
  'no tests': { ...COMPLETE, testCases: [] },
} as const satisfies Record<string, Report | undefined>

const NO_TESTS =
  "found no tests. If you expect that, add --none to its arguments, and set the gate's input pass-with-no-tests to true."

const HINT = '. A test or the configuration may have ended its process, for example with process.exit()'
const NEXT = '. Look for it in the output, and correct it'

type EndName = keyof typeof ENDS
type ReportName = keyof typeof REPORTS

/** By the end and the report: the status, and the message behind the name of the framework. */
const TABLE: readonly [EndName, ReportName, string, string?][] = [
  ['exit 0', 'complete', 'PASSED'],
  ['exit 0', 'cut off', 'INTERRUPTED', `exited with code 0 before it had reported all tests${HINT}${NEXT}`],
  ['exit 0', 'no report', 'INTERRUPTED', `exited with code 0 without a report${HINT}${NEXT}`],
  ['exit 0', 'broken', 'INTERRUPTED', 'exited with code 0, and its report is cut off'],
  ['exit 0', 'over a limit', 'FAILED', 'exited with code 0, and its report is too large'],
  ['exit 0', 'failed cases', 'FAILED'],
  ['exit 0', 'failed cases, framework errors', 'FAILED', 'reported an error outside the tests: Error: lost'],
  ['exit 0', 'framework errors', 'PASSED'],
  ['exit 0', 'failure of no case', 'FAILED', 'exited with code 0, and its report counts 3 failures and lists none'],
  ['exit 0', 'no tests', 'PASSED'],
  ['exit 1', 'complete', 'FAILED', 'exited with code 1, although no test failed: printed'],
  ['exit 1', 'cut off', 'FAILED', 'exited with code 1 before it had reported all tests: printed'],
  ['exit 1', 'no report', 'FAILED', 'could not run the tests: printed'],
  ['exit 1', 'broken', 'FAILED', 'exited with code 1, and its report is cut off: printed'],
  ['exit 1', 'over a limit', 'FAILED', 'exited with code 1, and its report is too large: printed'],
  ['exit 1', 'failed cases', 'FAILED'],
  ['exit 1', 'failed cases, framework errors', 'FAILED', 'reported an error outside the tests: Error: lost'],
  ['exit 1', 'framework errors', 'FAILED', 'exited with code 1, although no test failed: Error: lost'],
  [
    'exit 1',
    'failure of no case',
    'FAILED',
    'exited with code 1: printed\nBesides, its report counts 3 failures and lists none',
  ],
  ['exit 1', 'no tests', 'FAILED', NO_TESTS],
  ['exit 137', 'complete', 'FAILED', 'exited with code 137, although no test failed: printed'],
  ['exit 137', 'cut off', 'INTERRUPTED', 'exited with code 137 before it had reported all tests: printed'],
  ['exit 137', 'no report', 'INTERRUPTED', 'exited with code 137 without a report: printed'],
  ['exit 137', 'broken', 'INTERRUPTED', 'exited with code 137, and its report is cut off: printed'],
  ['exit 137', 'over a limit', 'FAILED', 'exited with code 137, and its report is too large: printed'],
  ['exit 137', 'failed cases', 'FAILED'],
  ['signal', 'complete', 'INTERRUPTED', 'was killed by SIGKILL'],
  ['signal', 'cut off', 'INTERRUPTED', 'was killed by SIGKILL'],
  ['signal', 'no report', 'INTERRUPTED', 'was killed by SIGKILL'],
  ['signal', 'over a limit', 'INTERRUPTED', 'was killed by SIGKILL'],
  ['signal', 'failed cases', 'INTERRUPTED', 'was killed by SIGKILL'],
  ['signal', 'framework errors', 'INTERRUPTED', 'was killed by SIGKILL: Error: lost'],
  ['no command', 'broken', 'INTERRUPTED', 'failed, because its report is cut off'],
  ['no command', 'over a limit', 'FAILED', 'failed, because its report is too large'],
  ['no command', 'broken, failed cases', 'FAILED', 'failed, because its report is cut off'],
]

const caller = { title: 'vitest', noTestsArgument: '--none' }

it.each(
  TABLE,
)('if nobody stopped a run, its end with %s and the report "%s" means %s', (end, report, status, message) => {
  const { testCases = [] } = REPORTS[report] ?? {}
  const expected = { status, testCases, message: message && `vitest ${message}` }
  expect(toOutcome(caller, ENDS[end], REPORTS[report])).toEqual(expected)
})
