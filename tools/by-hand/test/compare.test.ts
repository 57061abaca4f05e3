import { expect, it } from 'vitest'
import { compare } from '../compare.ts'
import type { ByHand, TestByHand, ThroughService } from '../results.ts'

const aTest = (title: string, status: TestByHand['status'], file = 'a.test.js'): TestByHand => ({
  file,
  path: title.split(' > '),
  status,
})
const byHand = (end: ByHand['end'], tests?: readonly TestByHand[], failedFiles: readonly string[] = []): ByHand => ({
  command: 'vitest run',
  end,
  output: '',
  report: tests && { tests, failedFiles },
  endWithReport: end,
})
const run = (status: string, ...cases: readonly (readonly [title: string, status: string])[]): ThroughService => ({
  kind: 'finished',
  status,
  testCases: cases.map(([title, of]) => ({ title, status: of })),
})
const REFUSED: ThroughService = { kind: 'refused', reason: 'It has "-w".' }
const PASSED = [aTest('a', 'PASSED'), aTest('b', 'PASSED')]
const HOOK = byHand(1, [aTest('block > a', 'SKIPPED')], ['a.test.js'])
const EMPTY_BLOCK: ByHand = { ...byHand(1), report: { tests: [], failedFiles: ['a.test.js'] } }
const NOT_BEGUN: ByHand = { ...byHand(1), report: { tests: [], failedFiles: [], unexplainedFiles: ['a.test.js'] } }
const ONLY = "Error: item focused with '.only' is not allowed due to the '--forbid-only' CLI flag"

it.each<[string, ByHand, ThroughService]>([
  ['0 and PASSED', byHand(0, []), run('PASSED')],
  ['1 and FAILED', byHand(1), run('FAILED')],
  ['a signal and INTERRUPTED', byHand('SIGKILL'), run('INTERRUPTED')],
  ['no end and a refusal', byHand('stopped'), REFUSED],
  ['failed tests, also with exit code 0', byHand(0, [aTest('a', 'FAILED')]), run('FAILED', ['a', 'FAILED'])],
  ['no report with exit code 0', byHand(0), run('INTERRUPTED')],
  ['a forgotten test.only', byHand(0, []), { ...run('FAILED'), message: ONLY } as ThroughService],
  ['titles with the project', byHand(0, [aTest('a > b', 'PASSED')]), run('PASSED', ['[unit] > a > b', 'PASSED'])],
  [
    'two tests with one title, in any order',
    byHand(1, [aTest('same', 'PASSED'), aTest('same', 'FAILED')]),
    run('FAILED', ['same', 'FAILED'], ['same', 'PASSED']),
  ],
  ['a test that had not ended and SKIPPED', byHand(1, [aTest('a', 'PENDING')]), run('FAILED', ['a', 'SKIPPED'])],
  ['tests of a report whose run ended otherwise', { ...byHand(1, PASSED), endWithReport: 0 }, run('FAILED')],
  ['a file that failed, and the block', HOOK, run('FAILED', ['block > a', 'SKIPPED'], ['[unit] > block', 'FAILED'])],
  [
    'a file that failed, and the message of the run',
    HOOK,
    { ...run('FAILED', ['block > a', 'SKIPPED']), message: 'Error: no database' } as ThroughService,
  ],
  ['a file that failed with an empty block', EMPTY_BLOCK, run('FAILED', ['block', 'FAILED'])],
  ['a file of which the report says nothing', NOT_BEGUN, run('FAILED')],
])('is the same: %s', (_what, hand, service) => {
  expect(compare(hand, service).differences).toEqual([])
})

it.each<[ByHand, ThroughService, string[]]>([
  [byHand(1), run('PASSED'), ['By hand, "vitest run" exits with 1, but the run is PASSED.']],
  [byHand('stopped'), run('PASSED'), ['By hand, "vitest run" does not end, but the run is PASSED.']],
  [byHand(0, []), run('FAILED'), ['By hand, "vitest run" exits with 0, but the run is FAILED.']],
  [byHand(0, []), REFUSED, ['By hand, "vitest run" exits with 0, but the service refuses it: It has "-w".']],
  [
    byHand(1, PASSED),
    run('FAILED', ['a', 'FAILED'], ['c', 'PASSED']),
    [
      'The test "a.test.js > a" is PASSED by hand. The run has no such test with this result.',
      'The test "a.test.js > b" is PASSED by hand. The run has no such test with this result.',
      'The run has the test case "a", which is FAILED. By hand, there is none.',
      'The run has the test case "c", which is PASSED. By hand, there is none.',
    ],
  ],
  [
    byHand(0, [aTest('same', 'PASSED'), aTest('same', 'PASSED', 'b.test.js')]),
    run('PASSED', ['same', 'PASSED']),
    ['The test "b.test.js > same" is PASSED by hand. The run has no such test with this result.'],
  ],
  [
    byHand(1, [aTest('a', 'PENDING')]),
    run('FAILED', ['a', 'PASSED']),
    [
      'The test "a.test.js > a" is PENDING by hand. The run has no such test with this result.',
      'The run has the test case "a", which is PASSED. By hand, there is none.',
    ],
  ],
  [
    HOOK,
    run('FAILED', ['block > a', 'SKIPPED']),
    ['By hand, the file a.test.js failed, but neither a test case nor the message of the run says it.'],
  ],
  [
    byHand(0, [aTest('block > a', 'PASSED')]),
    run('PASSED', ['block > a', 'PASSED'], ['block', 'FAILED']),
    ['The run has the test case "block", which is FAILED. By hand, there is none.'],
  ],
])('differs: %j and %j', (hand, service, differences) => {
  expect(compare(hand, service).differences).toEqual(differences)
})
