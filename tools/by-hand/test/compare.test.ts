import { describe, expect, it } from 'vitest'
import { compare } from '../compare.ts'
import type { ByHand, TestByHand, TestCase, ThroughService } from '../results.ts'

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
const run = (status: string, cases: Readonly<Record<string, string>> | readonly TestCase[] = []): ThroughService => ({
  kind: 'finished',
  status,
  testCases: Array.isArray(cases) ? cases : Object.entries(cases).map(([title, of]) => ({ title, status: of })),
})
const differences = (hand: ByHand, service: ThroughService) => compare(hand, service).differences

describe('the end', () => {
  it('is the same if the exit code is 0 and the run is PASSED, or if neither is so', () => {
    expect(differences(byHand(0, []), run('PASSED'))).toEqual([])
    for (const end of [1, 130, 'SIGKILL', 'stopped'] as const) {
      expect(differences(byHand(end), run('FAILED'))).toEqual([])
      expect(differences(byHand(end), run('INTERRUPTED'))).toEqual([])
      expect(differences(byHand(end), { kind: 'refused', reason: 'No.' })).toEqual([])
    }
  })

  it.each([
    [1, 'exits with 1'],
    ['SIGKILL', 'is ended by SIGKILL'],
    ['stopped', 'does not end'],
  ] as const)('differs if the command ends with %s and the run is PASSED', (end, text) => {
    expect(differences(byHand(end), run('PASSED'))).toEqual([`By hand, "vitest run" ${text}, but the run is PASSED.`])
  })

  it('differs if the command exits with 0 and the run is not PASSED, or the service refuses the arguments', () => {
    expect(differences(byHand(0, []), run('FAILED'))).toEqual([
      'By hand, "vitest run" exits with 0, but the run is FAILED.',
    ])
    expect(differences(byHand(0, []), { kind: 'refused', reason: 'It has "-w".' })).toEqual([
      'By hand, "vitest run" exits with 0, but the service refuses it: It has "-w".',
    ])
  })

  it('may be stricter if the framework said failed tests, wrote no report, or has a forgotten test.only', () => {
    const failed = compare(byHand(0, [aTest('a', 'FAILED')]), run('FAILED', { a: 'FAILED' }))
    expect(failed).toMatchObject({ differences: [], stricter: 'The framework says failed tests, and exits with 0.' })
    expect(compare(byHand(0), run('INTERRUPTED'))).toMatchObject({ differences: [], stricter: expect.any(String) })
    const message = "Error: item focused with '.only' is not allowed due to the '--forbid-only' CLI flag"
    const only = compare(byHand(0, []), { kind: 'finished', status: 'FAILED', message, testCases: [] })
    expect(only).toMatchObject({ differences: [], stricter: 'A test.only was forgotten.' })
  })
})

describe('the tests', () => {
  it('are the same if each has the same result, also under a title with its project', () => {
    const tests = [aTest('a > b', 'PASSED'), aTest('[unit] > c', 'FAILED')]
    const cases = { '[unit] > a > b': 'PASSED', '[unit] > c': 'FAILED' }
    expect(differences(byHand(1, tests), run('FAILED', cases))).toEqual([])
  })

  it('that share a title are paired by their results', () => {
    const tests = [aTest('same', 'PASSED'), aTest('same', 'FAILED')]
    const swapped = [
      { title: 'same', status: 'FAILED' },
      { title: 'same', status: 'PASSED' },
    ]
    expect(differences(byHand(1, tests), run('FAILED', swapped))).toEqual([])
  })

  it('differ if one has another result, or if only one side has it', () => {
    const tests = [aTest('a', 'PASSED'), aTest('b', 'PASSED')]
    expect(differences(byHand(1, tests), run('FAILED', { a: 'FAILED', c: 'PASSED' }))).toEqual([
      'The test "a.test.js > a" is PASSED by hand and FAILED in the run.',
      'The test "a.test.js > b" is PASSED by hand, and the run does not have it.',
      'The run has the test case "c", which is PASSED. By hand, there is none.',
    ])
  })

  it('differ if the run has one twice', () => {
    const twice = [1, 2].map(() => ({ title: 'a', status: 'PASSED' }))
    expect(differences(byHand(0, [aTest('a', 'PASSED')]), run('PASSED', twice))).toEqual([
      'The run has the test case "a", which is PASSED. By hand, there is none.',
    ])
  })

  it('differ if one of two with the same title and result is missing', () => {
    const tests = [aTest('same', 'PASSED'), aTest('same', 'PASSED', 'b.test.js')]
    expect(differences(byHand(0, tests), run('PASSED', { same: 'PASSED' }))).toHaveLength(1)
  })

  it('that had not ended are SKIPPED or INTERRUPTED in the run', () => {
    for (const status of ['SKIPPED', 'INTERRUPTED']) {
      expect(differences(byHand(1, [aTest('a', 'PENDING')]), run('FAILED', { a: status }))).toEqual([])
    }
    expect(differences(byHand(1, [aTest('a', 'PENDING')]), run('FAILED', { a: 'PASSED' }))).toHaveLength(1)
  })
})

it('whose report is of a run that ended otherwise are not compared', () => {
  const hand = { ...byHand(1, [aTest('a', 'PASSED')]), endWithReport: 0 }
  expect(differences(hand, run('FAILED'))).toEqual([])
})

describe('a file that failed without a failed test', () => {
  const hand = byHand(1, [aTest('block > a', 'SKIPPED')], ['a.test.js'])

  it('is an entry with the path of the file, or with the name of the block whose hook failed', () => {
    for (const title of ['a.test.js', 'block', '[unit] > block']) {
      expect(differences(hand, run('FAILED', { 'block > a': 'SKIPPED', [title]: 'FAILED' }))).toEqual([])
    }
  })

  it('must be such an entry', () => {
    expect(differences(hand, run('FAILED', { 'block > a': 'SKIPPED' }))).toEqual([
      'By hand, the file a.test.js failed, but neither a test case nor the message of the run says it.',
    ])
  })

  it('may be in the message of the run instead', () => {
    const testCases = [{ title: 'block > a', status: 'SKIPPED' }]
    const service = { kind: 'finished', status: 'FAILED', message: 'Error: no database', testCases } as const
    expect(differences(hand, service)).toEqual([])
  })

  it('may be an entry with the name of an empty block, which the report does not have', () => {
    const empty = { tests: [], failedFiles: ['a.test.js'] }
    expect(differences({ ...byHand(1), report: empty }, run('FAILED', { block: 'FAILED' }))).toEqual([])
    expect(differences({ ...byHand(1), report: empty }, run('FAILED'))).toHaveLength(1)
  })

  it('needs no entry if the report says nothing else about it, because it may not have begun', () => {
    const report = { tests: [], failedFiles: [], unexplainedFiles: ['a.test.js'] }
    expect(differences({ ...byHand(1), report }, run('FAILED'))).toEqual([])
    expect(differences({ ...byHand(1), report }, run('FAILED', { block: 'FAILED' }))).toEqual([])
  })

  it('explains no entry of a file that did not fail', () => {
    const passed = byHand(0, [aTest('block > a', 'PASSED')])
    expect(differences(passed, run('PASSED', { 'block > a': 'PASSED', block: 'FAILED' }))).toEqual([
      'The run has the test case "block", which is FAILED. By hand, there is none.',
    ])
  })
})
