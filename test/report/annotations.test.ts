import { describe, expect, it } from 'vitest'
import { annotations, reasonGroups } from '../../src/report/annotations.ts'
import { render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, aTestCase, type TestCaseFields, testCasesBy } from '../support/builders.ts'

const ofRun = (status: string, counts: Record<string, number>) =>
  annotations(anOutcome({ run: aRun({ status, testCases: testCasesBy(counts) }) }), true)

/** The annotation of a failing case, if another case fails too. */
function messageOf(fields: TestCaseFields): string {
  const run = aRun({ status: 'FAILED', testCases: [aTestCase(fields), aTestCase({ status: 'FAILED' })] })
  return render(annotations(anOutcome({ run }), true)[0]?.message ?? expect.fail())
}

describe('the groups of the log', () => {
  interface Log {
    readonly message?: string
    readonly hasAnnotations?: boolean
    readonly hasShownOutput?: boolean
  }

  function groupsOf(testCases: readonly TestCaseFields[] | undefined, log: Log = {}) {
    const { message, hasAnnotations = true, hasShownOutput = false } = log
    const run = aRun({ status: 'FAILED', message, testCases: testCases?.map(aTestCase) })
    const groups = reasonGroups(anOutcome({ run, hasShownOutput }), hasAnnotations)
    return groups.map(({ name, text }) => [render(name), render(text)])
  }

  const LONG = `${'line\n'.repeat(3_000)}${'x'.repeat(9_000)}`
  const PAYS = { title: 'pays', status: 'FAILED', filePath: 'e2e/pay.ts', line: 12 }
  const GROUP = 'pays (e2e/pay.ts:12)'

  it('have the place and the whole message of the first eight failing cases', () => {
    const failing = { ...PAYS, message: LONG }
    const groups = groupsOf([{ status: 'FLAKY', message: LONG }, ...Array.from({ length: 9 }, () => failing)])
    expect(groups).toHaveLength(8)
    expect(groups[0]).toEqual([GROUP, LONG])
  })

  it('repeat no message that an annotation has whole', () => {
    // The annotation has the title and a line break too.
    const [longest, longer] = [3_995, 3_996].map((length) => ({ ...PAYS, message: 'x'.repeat(length) }))
    expect(groupsOf([{ ...longest }, { ...longer }])).toEqual([[GROUP, longer?.message]])
    expect(groupsOf([{ ...PAYS, message: 'short' }], { hasAnnotations: false })).toEqual([[GROUP, 'short']])
  })

  it('repeat no message if the log has the output of the tests', () => {
    const log = { message: 'a\nb', hasAnnotations: false }
    expect(groupsOf([{ ...PAYS, message: LONG }], log)).toHaveLength(2)
    expect(groupsOf([{ ...PAYS, message: LONG }], { ...log, hasShownOutput: true })).toEqual([])
  })

  it('have the whole message of the run first, unless the verdict has it', () => {
    const message = 'no browser\n  at launch'
    expect(groupsOf(undefined, { message })).toEqual([['The message of the run', message]])
    expect(groupsOf([{ ...PAYS, message: LONG }], { message })[0]?.[0]).toBe('The message of the run')
    expect(groupsOf(undefined, { message: 'x'.repeat(1_001) })).toHaveLength(1)
    expect(groupsOf(undefined, { message: `\n${'x'.repeat(1_000)}\n` })).toEqual([])
  })

  it('are only for cases for which the service sent a message', () => {
    expect(groupsOf([{ ...PAYS, filePath: undefined }, PAYS], { hasAnnotations: false })).toEqual([])
  })
})

// endings.md has their order and words.

describe('the annotations', () => {
  it.each([
    [8, 8, undefined],
    [9, 9, '1 more test case failed. See the job summary.'],
    [2008, 9, '2,000 more test cases failed. See the job summary.'],
  ])('for %d failing cases are %d', (failing, count, last) => {
    const shown = ofRun('FAILED', { FAILED: failing })
    expect(shown).toHaveLength(count)
    expect(shown[8] && render(shown[8].message)).toBe(last)
  })

  it('do not mention the summary if there is none', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 10 }) })
    const last = annotations(anOutcome({ run }), false).at(-1)
    expect(last && render(last.message)).toBe('2 more test cases failed.')
  })

  it('have a place and a message, also for a single failing case, if the service sent them', () => {
    const testCases = [
      aTestCase({ status: 'PASSED', message: 'not shown', filePath: 'a.ts' }),
      aTestCase({
        title: 'pays',
        status: 'FAILED',
        message: 'expected 41\n  to be 42',
        filePath: 'e2e/pay.ts',
        line: 12,
      }),
    ]
    const [annotation, ...others] = annotations(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }), true)
    expect(others).toEqual([])
    expect(annotation).toMatchObject({ level: 'error', title: 'Test failed', file: { text: 'e2e/pay.ts' }, line: 12 })
    expect(annotation && render(annotation.message)).toBe('pays\nexpected 41\n  to be 42')
  })

  it('have a place without a line, and the status if there is no message', () => {
    const fields = { title: 'pays', status: 'TIMEDOUT', filePath: 'e2e/pay.ts', durationMs: 30_000 }
    const run = aRun({ status: 'FAILED', testCases: [aTestCase(fields)] })
    const [annotation] = annotations(anOutcome({ run }), true)
    expect(annotation).toMatchObject({ title: 'Test timed out', file: { text: 'e2e/pay.ts' }, line: undefined })
    expect(annotation && render(annotation.message)).toBe('pays: TIMEDOUT after 30 s')
  })

  it('name a case without a title, and leave out a duration that the service did not send', () => {
    expect(messageOf({ title: ' \u200b', status: 'ERROR', durationMs: undefined })).toBe('(untitled): ERROR')
  })
})
