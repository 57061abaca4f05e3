import { describe, expect, it } from 'vitest'
import type { StepResult } from '../../src/outcome/step-result.ts'
import { keyRedaction } from '../../src/outcome/without-key.ts'
import { type CommentOptions, commentBody } from '../../src/report/comment-body.ts'
import { render } from '../../src/report/safe-text.ts'
import { aRun, aStepResult, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { renderedPage, tableRows } from '../support/rendered-page.ts'

const MARKER = '<!-- test-run-action 0f3a run 1 attempt 1 -->'
const JOB_URL = 'https://github.com/o/r/actions/runs/1/job/2'
const JOB = { name: 'test-run', url: JOB_URL }
const NO_KEY = { redact: keyRedaction('') }

const bodyOf = (result: StepResult, options: Partial<CommentOptions> = {}) =>
  render(commentBody(result, { ...NO_KEY, marker: MARKER, job: JOB, hasSummary: true, ...options }))

describe('the comment', () => {
  it('begins with its marker, which nobody sees', () => {
    const body = bodyOf(ENDINGS.failed)
    expect(body.startsWith(`${MARKER}\n`)).toBe(true)
    expect(renderedPage(body).text.trimStart().startsWith('❌ Tests failed: 5 of 40')).toBe(true)
  })

  it('has the headline, the counts, what did not pass, and a link to the job', () => {
    const page = renderedPage(bodyOf(ENDINGS.failed))
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
    expect(links.map(({ attrs }) => attrs)).toEqual([[{ name: 'href', value: JOB_URL }]])
    expect(page.text).toContain(
      'Project web-shop · Environment staging · Branch main · Run run_7f3a · Log of the job test-run',
    )
  })

  it('shows twenty of what did not pass and counts the others', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 1025 }) })
    const page = renderedPage(bodyOf(aStepResult({ run })))
    expect(tableRows(page)).toHaveLength(21)
    expect(page.text).toContain('… and 1,005 more in the summary of the job.')
  })

  it('sends nobody to a summary that is not there', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 25 }) })
    expect(renderedPage(bodyOf(aStepResult({ run }), { hasSummary: false })).text).toContain('… and 5 more.')
  })

  it('is told apart from the others of the pull request by its key', () => {
    const matrix = '{"os":"linux"}'
    expect(renderedPage(bodyOf(ENDINGS.failed, { key: 'two', matrix })).text).toContain('5 of 40 · two · linux\n')
  })

  it('has no table where all passed, and tells the explanation where there is one', () => {
    expect(bodyOf(ENDINGS.passed)).not.toContain('<table>')
    expect(renderedPage(bodyOf(ENDINGS.startUnclear)).text).toContain(
      'a run may have been started and cannot be looked up',
    )
  })

  it.each([
    ['{"os":"ubuntu-latest","node":20,"deep":{"a":[true]}}', ' · ubuntu-latest, 20, true'],
    ['null', ''],
    ['', ''],
    ['{}', ''],
    ['{"os":', ''],
    ['{"os":"@octocat <b>"}', ' · @octocat <b>'],
  ])('names the matrix leg %s in the headline', (matrix, words) => {
    const page = renderedPage(bodyOf(ENDINGS.passed, { matrix }))
    expect(page.text).toContain(`✅ Tests passed: 39 of 40, 1 skipped${words}\n`)
  })

  it('needs neither a job nor a run', () => {
    const result = aStepResult({ runId: undefined, ending: ENDINGS.startRefused.ending })
    const body = render(commentBody(result, { ...NO_KEY, marker: MARKER, hasSummary: true }))
    expect(renderedPage(body).elements.some(({ tagName }) => tagName === 'a')).toBe(false)
  })

  it('masks the key in the matrix, however JSON has it escaped', () => {
    const key = 'a"b\\c'
    const body = bodyOf(ENDINGS.passed, { redact: keyRedaction(key), matrix: JSON.stringify({ os: key }) })
    expect(renderedPage(body).codes[0]).toBe('***')
  })

  it('stays within 65,536 characters and bytes at its largest', () => {
    for (const worst of ['"', '"&', '.a', '☃', '😀', '##[']) {
      const huge = worst.repeat(100_000)
      const testCases = Array.from({ length: 5_000 }, (_, index) => aTestCase({ title: index + huge, status: huge }))
      const result = aStepResult({
        runId: huge,
        target: { kind: 'project', projectId: huge },
        parameters: { branch: huge, environment: huge, frameworkProject: huge, autofix: true },
        run: aRun({ status: huge, branchName: huge, testCases, raw: null }),
      })
      const body = bodyOf(result, {
        matrix: JSON.stringify({ os: huge }),
        key: huge,
        job: { name: huge, url: `https://github.com/${'x'.repeat(500)}` },
      })
      expect(Buffer.byteLength(body)).toBeLessThan(65_536)
    }
  })
})
