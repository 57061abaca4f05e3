import { expect, it } from 'vitest'
import { outcomeOfUnusable, toOutcome } from '../../src/execution/outcome.ts'
import type { Report, TestCase } from '../../src/frameworks/report.ts'
import { unusable } from '../../src/frameworks/unusable.ts'
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
  broken: { ...COMPLETE, isComplete: false, problem: 'The report is cut off.' },
  'over a limit': { ...COMPLETE, isComplete: false, mustFail: true, problem: 'The report is too large.' },
  'broken, failed cases': { ...COMPLETE, testCases: [FAILED], isComplete: false, problem: 'The report is cut off.' },
  'failed cases': { ...COMPLETE, testCases: [PASSED, FAILED] },
  'failed cases, framework errors': { ...COMPLETE, testCases: [PASSED, FAILED], errors: ['Error: lost'] },
  'framework errors': { ...COMPLETE, errors: ['Error: lost'] },
  'failure of no case': { ...COMPLETE, problem: 'The report counts 3 failures and lists none.' },
  'no tests': { ...COMPLETE, testCases: [] },
} as const satisfies Record<string, Report | undefined>

const NO_TESTS =
  "vitest found no tests. If you expect that, add --none to its arguments, and set the gate's input pass-with-no-tests to true."

const HINT = '. A test or the configuration may have ended its process, for example with process.exit()'
const NEXT = '. Look for it in the output, and correct it.'

type EndName = keyof typeof ENDS
type ReportName = keyof typeof REPORTS

/** By the end and the report: the status, and the message. */
const TABLE: readonly [EndName, ReportName, string, string?][] = [
  ['exit 0', 'complete', 'PASSED'],
  ['exit 0', 'cut off', 'INTERRUPTED', `vitest exited with code 0 before it had reported all tests${HINT}${NEXT}`],
  ['exit 0', 'no report', 'INTERRUPTED', `vitest exited with code 0 without a report${HINT}${NEXT}`],
  ['exit 0', 'broken', 'INTERRUPTED', 'The report is cut off.'],
  ['exit 0', 'over a limit', 'FAILED', 'The report is too large.'],
  ['exit 0', 'failed cases', 'FAILED'],
  ['exit 0', 'failed cases, framework errors', 'FAILED', 'vitest reported an error outside the tests: Error: lost'],
  ['exit 0', 'framework errors', 'PASSED'],
  ['exit 0', 'failure of no case', 'FAILED', 'The report counts 3 failures and lists none.'],
  ['exit 0', 'no tests', 'PASSED'],
  ['exit 1', 'complete', 'FAILED', 'vitest exited with code 1, although no test failed: printed'],
  ['exit 1', 'cut off', 'FAILED', 'vitest exited with code 1 before it had reported all tests: printed'],
  ['exit 1', 'no report', 'FAILED', 'vitest could not run the tests: printed'],
  ['exit 1', 'broken', 'FAILED', 'The report is cut off. vitest exited with code 1: printed'],
  ['exit 1', 'over a limit', 'FAILED', 'The report is too large. vitest exited with code 1: printed'],
  ['exit 1', 'failed cases', 'FAILED'],
  ['exit 1', 'failed cases, framework errors', 'FAILED', 'vitest reported an error outside the tests: Error: lost'],
  ['exit 1', 'framework errors', 'FAILED', 'vitest exited with code 1, although no test failed: Error: lost'],
  [
    'exit 1',
    'failure of no case',
    'FAILED',
    'vitest exited with code 1: printed. The report counts 3 failures and lists none.',
  ],
  ['exit 1', 'no tests', 'FAILED', NO_TESTS],
  ['exit 137', 'complete', 'FAILED', 'vitest exited with code 137, although no test failed: printed'],
  ['exit 137', 'cut off', 'INTERRUPTED', 'vitest exited with code 137 before it had reported all tests: printed'],
  ['exit 137', 'no report', 'INTERRUPTED', 'vitest exited with code 137 without a report: printed'],
  ['exit 137', 'broken', 'INTERRUPTED', 'The report is cut off. vitest exited with code 137: printed'],
  ['exit 137', 'over a limit', 'FAILED', 'The report is too large. vitest exited with code 137: printed'],
  ['exit 137', 'failed cases', 'FAILED'],
  ['signal', 'complete', 'INTERRUPTED', 'vitest was killed by SIGKILL.'],
  ['signal', 'cut off', 'INTERRUPTED', 'vitest was killed by SIGKILL.'],
  ['signal', 'no report', 'INTERRUPTED', 'vitest was killed by SIGKILL.'],
  ['signal', 'over a limit', 'INTERRUPTED', 'vitest was killed by SIGKILL.'],
  ['signal', 'failed cases', 'INTERRUPTED', 'vitest was killed by SIGKILL.'],
  ['signal', 'framework errors', 'INTERRUPTED', 'vitest was killed by SIGKILL: Error: lost'],
  ['no command', 'broken', 'INTERRUPTED', 'The report is cut off.'],
  ['no command', 'over a limit', 'FAILED', 'The report is too large.'],
  ['no command', 'broken, failed cases', 'FAILED', 'The report is cut off.'],
]

const caller = { isProjectCommand: false, args: [], title: 'vitest', noTestsArgument: '--none' }

it.each(
  TABLE,
)('if nobody stopped a run, its end with %s and the report "%s" means %s', (end, report, status, message) => {
  const { testCases = [] } = REPORTS[report] ?? {}
  expect(toOutcome(caller, ENDS[end], REPORTS[report])).toEqual({ status, testCases, message })
})

it.each([
  ['unusable', 'INTERRUPTED'],
  ['over-limit', 'FAILED'],
] as const)('a run that cannot use what it needs, because it is %s, is %s', (kind, status) => {
  const message = 'The report "1-2.zip" takes longer than 30 s to read.'
  expect(outcomeOfUnusable(unusable(message, kind))).toEqual({ status, testCases: [], message })
})
