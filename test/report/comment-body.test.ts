import { describe, expect, it } from 'vitest'
import type { StepOutcome } from '../../src/model/outcome.ts'
import { commentBody } from '../../src/report/comment-body.ts'
import { render } from '../../src/text/safe-text.ts'
import { aFinishedRun, anOutcome, aRun, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { renderedPage, tableRows } from '../support/rendered-page.ts'

const JOB_URL = 'https://github.com/o/r/actions/runs/1/job/2'
const JOB = { name: 'test-run', url: JOB_URL }

const bodyOf = (outcome: StepOutcome) => render(commentBody(outcome))

const pageOf = (...args: Parameters<typeof bodyOf>) => renderedPage(bodyOf(...args))

describe('the comment', () => {
  it('has the headline, the counts, what did not pass, and links to the run and the job', () => {
    const { run } = ENDINGS.failed
    const runUrl = 'https://app.example.com/runs/run_7f3a'
    const page = pageOf(anOutcome({ run, runUrl, subject: { job: JOB } }))
    expect(page.text).toContain('5 failed (1 timed out, 1 interrupted) · 31 passed')
    expect(tableRows(page).map(([status]) => status)).toEqual([
      'Status',
      '❌ Failed',
      '❌ Failed',
      '❌ Failed',
      '⏱️ Timed out',
      '⚠️ Interrupted',
      '❔ QUARANTINED',
    ])
    const links = page.elements.filter(({ tagName }) => tagName === 'a')
    expect(links.map(({ attrs }) => attrs.map(({ value }) => value))).toEqual([[runUrl], [JOB_URL]])
    expect(page.text).toContain('Environment staging · Branch main · Run run_7f3a · Log of the job test-run')
  })

  it('shows twenty cases that did not pass, and counts the others', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 1025 }) })
    const page = pageOf(anOutcome({ run }))
    expect(tableRows(page)).toHaveLength(21)
    expect(page.text).toContain('… and 1,005 more test cases.')
    const oneMore = anOutcome({ run: aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 21 }) }) })
    expect(pageOf(oneMore).text).toContain('… and 1 more test case.')
  })

  it('shows fewer rows if their texts are long, and counts all the others', () => {
    const long = aTestCase({ title: '&'.repeat(500), status: 'FAILED', filePath: '&'.repeat(400) })
    const page = pageOf(anOutcome({ run: aRun({ status: 'FAILED', testCases: Array(20).fill(long) }) }))
    const shown = tableRows(page).length - 1
    expect(shown).toBeGreaterThan(10)
    expect(shown).toBeLessThan(19)
    expect(page.text).toContain(`… and ${20 - shown} more test cases.`)
  })

  it('has the place of a failure, but no message of a test case or of the run', () => {
    const failed = aTestCase({ title: 'pays', status: 'FAILED', message: 'SECRET', filePath: 'e2e/pay.ts', line: 12 })
    const flaky = aTestCase({ status: 'FLAKY', message: 'SECRET', filePath: 'e2e/flaky.ts' })
    const aborted = {
      ending: { kind: 'aborted', cause: 'system signal' },
      cancellation: { kind: 'already-finished' },
    } as const
    for (const testCases of [[failed, flaky], []]) {
      const run = aFinishedRun({ status: 'FAILED', message: 'SECRET', testCases })
      const place = '<td><b><code>pays</code></b><br><code>e2e/pay.ts:12</code></td>'
      for (const outcome of [anOutcome({ run }), anOutcome({ ...aborted, run })]) {
        expect(bodyOf(outcome)).not.toContain('SECRET')
        expect(bodyOf(outcome).includes(place)).toBe(testCases.length > 0)
      }
    }
  })

  it('says in its headline how many failures are new, and beside each other one that it failed before', () => {
    const page = pageOf(ENDINGS.failedSomeNew)
    expect(page.text).toContain('❌ Tests failed: 3 of 40 (1 new) · web-shop\n')
    expect(tableRows(page)).toEqual([
      ['Status', 'Test', 'Duration'],
      ['❌ Failed\nnew', 'failed case 3', '1.2 s'],
      ['❌ Failed\nfailed before', 'failed case 1', '1.2 s'],
      ['❌ Failed\nfailed before', 'failed case 2', '1.2 s'],
    ])
  })

  it('has no empty line if nothing is known of the run and of what was tested', () => {
    const outcome = anOutcome({ ...ENDINGS.startRefused, subject: { parameters: {} } })
    expect(bodyOf(outcome)).not.toContain('<p></p>')
    expect(bodyOf(outcome)).toContain('❌ Run not started')
  })

  it('has the explanation if there is one, also without a table, a job and a run', () => {
    const page = pageOf(ENDINGS.startUnclear)
    expect(page.text).toContain('A run may have been started, and it cannot be looked up')
    expect(page.elements.filter(({ tagName }) => ['a', 'table'].includes(tagName))).toEqual([])
  })

  it('has at most 65,536 characters and bytes', () => {
    for (const worst of ['<', '"&', '.a', '☃', '😀', '##[']) {
      const huge = worst.repeat(2_000)
      const testCases = Array.from({ length: 25 }, (_, index) =>
        aTestCase({
          title: index + huge,
          status: huge,
          message: huge,
          filePath: huge.slice(0, 1000),
          line: 2 ** 53 - 1,
        }),
      )
      const outcome = anOutcome({
        runId: huge,
        runUrl: `https://example.com/${'x'.repeat(2000)}`,
        run: { ...aRun({ status: huge, branchName: huge, message: huge, testCases: [] }), testCases },
        subject: {
          target: { kind: 'project', id: huge },
          parameters: { branch: huge, environment: huge, frameworkProject: huge, autofix: true },
          matrix: huge,
          job: { name: huge, url: `https://github.com/${'x'.repeat(500)}` },
        },
      })
      expect(Buffer.byteLength(bodyOf(outcome))).toBeLessThan(65_536)
    }
  })
})
