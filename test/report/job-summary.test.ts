import { describe, expect, it } from 'vitest'
import type { Baseline } from '../../src/model/baseline.ts'
import type { StepOutcome } from '../../src/model/outcome.ts'
import type { TestCase } from '../../src/model/run.ts'
import { jobSummary, problemsSummary } from '../../src/report/job-summary.ts'
import { fragment, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { anOutcome, aRun, aTestCase, type TestCaseFields, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { type RenderedPage, renderedPage, tableRows, unbalancedTags } from '../support/rendered-page.ts'

const LIMIT_BYTES = 900_000

const summaryOf = (outcome: StepOutcome, alreadyBytes = 0, reportDir?: string) =>
  render(jobSummary(outcome, alreadyBytes, reportDir))

const failed = (testCases: readonly TestCase[]) => anOutcome({ run: aRun({ status: 'FAILED', testCases }) })
const runOf = (counts: Record<string, number>) => failed(testCasesBy(counts))

/** How many test cases a page shows: in parts of their own, and in rows. */
const casesIn = (text: string) => text.split('<td nowrap>').length + text.split('<summary>❌').length - 2

/** The parts that are not within another one, without their contents. */
const partsOf = ({ elements }: RenderedPage) =>
  elements.filter(({ tagName, parentNode }) => tagName === 'details' && parentNode?.nodeName !== 'details')

describe('the job summary', () => {
  it('shows the most important first', () => {
    const testCases = [
      aTestCase({ title: 'pays by card', filePath: 'e2e/pay.ts' }),
      aTestCase({ title: 'search › finds <shoes>', status: 'TIMEDOUT', durationMs: 30_000 }),
      aTestCase({ title: 'checkout', status: 'FAILED', durationMs: 340, message: 'why', filePath: 'a.ts', line: 3 }),
    ]
    expect(summaryOf(failed(testCases))).toBe(`## ❌ Tests failed: 2 of 3 · <code>web-shop</code>
<p>2 failed (1 timed out) · 1 passed · test time 31.5 s · run time 3 min 4 s</p>
<p>Environment <code>staging</code> · Branch <code>main</code> · Run <code>run_7f3a</code></p>
<details open><summary>❌ Failed <b><code>checkout</code></b><br><code>a.ts:3</code> · 340 ms<br><code>why</code></summary></details>
<details open><summary>⏱️ Timed out <b><code>search › finds &lt;shoes&gt;</code></b><br>30 s</summary></details>
<details><summary>Passed (1)</summary>
<table>
<tr><th align="left">Status</th><th align="left">Test</th><th align="right">Duration</th></tr>
<tr><td nowrap>✅ Passed</td><td><b><code>pays by card</code></b><br><code>e2e/pay.ts</code></td><td align="right" nowrap>1.2 s</td></tr>
</table>
</details>
`)
  })

  it.each([
    [5, true],
    [6, false],
  ])('opens the parts of %d cases that did not pass: %s', (count, isOpen) => {
    const reason = { status: 'FAILED', message: 'why' }
    const flaky = aTestCase({ status: 'FLAKY', message: 'of a flaky case' })
    const testCases = [...Array.from({ length: count }, () => aTestCase(reason)), flaky]
    const page = renderedPage(summaryOf(failed(testCases)))
    const open = page.elements.filter(({ attrs }) => attrs.some(({ name }) => name === 'open'))
    expect(open).toHaveLength(isOpen ? count : 0)
    expect(page.text).toContain('of a flaky case')
  })

  it('has a part for each of the first hundred cases that did not pass, and one table for the others', () => {
    const page = renderedPage(summaryOf(runOf({ FAILED: 130, PASSED: 1 })))
    expect(partsOf(page)).toHaveLength(100 + 2)
    expect(page.text).toContain('More test cases that did not pass (30)')
    expect(tableRows(page).filter(([status]) => status === '❌ Failed')).toHaveLength(30)
  })

  it('counts the cases that have no result', () => {
    const testCases = testCasesBy({ PASSED: 2, RUNNING: 1, QUEUED: 1, CANCELLED: 1, NEW: 1, SKIPPED: 1 })
    expect(renderedPage(summaryOf(failed(testCases))).text).toContain(
      '⚠️ Incomplete results: The action knows no result of 4 of 7 test cases.',
    )
  })

  it('has the message of the run, and then no sentence repeats what the headline says', () => {
    const run = aRun({ status: 'FAILED', message: 'no browser\n::error::x\n@octocat', testCases: [] })
    const text = summaryOf(anOutcome({ run }))
    expect(text).toContain(
      '<p>The message of the run: <code>no browser</code></p><pre lang="diff">::error::x&#10;@octocat</pre>\n',
    )
    expect(summaryOf(anOutcome({ run: { ...run, message: untrusted('no browser') } }))).toContain(
      '<p>The message of the run: <code>no browser</code></p>\n',
    )
    expect(renderedPage(text).text).not.toMatch(/Look up the run at the service|finished as/)
    const placed = { ...run, filePath: untrusted('src/save.js'), line: 2 }
    const subject = { sourceUrl: 'https://github.com/octo/shop/blob/1234567' }
    expect(summaryOf(anOutcome({ run: placed, subject }))).toContain(
      '<code>no browser</code><br><a href="https://github.com/octo/shop/blob/1234567/src/save.js#L2"><code>src/save.js:2</code></a></p><pre',
    )
  })
})

describe('with a baseline, the job summary', () => {
  const earlier = (testCases: readonly TestCase[]) => ({ status: 'PASSED', testCases }) as const
  const aBaselineOf = (...runs: readonly (readonly TestCase[])[]) => runs.map(earlier) as unknown as Baseline
  const summaryWith = (testCases: readonly TestCase[], baseline: Baseline, status = 'PASSED') =>
    summaryOf(anOutcome({ run: aRun({ status, testCases }), subject: { baseline } }))
  const many = (count: number, fields: TestCaseFields) =>
    Array.from({ length: count }, (_, index) =>
      aTestCase({ title: `case ${index}`, filePath: 'e2e/pay.ts', ...fields }),
    )
  /** The list of a part that can be folded, as people read it. */
  const listIn = (text: string, name: string) => {
    const part = text.split(`<details><summary>${name}</summary>\n`)[1]?.split('</details>')[0]
    return part && renderedPage(part).text.trim().split(/\n+/)
  }

  it('lists the cases that are newly skipped and those that are gone, also if the run is green', () => {
    const inPay = { title: 'pays <b>', filePath: 'e2e/pay.ts' }
    const before = [
      aTestCase(inPay),
      aTestCase({ title: 'adds', status: 'FAILED', filePath: 'e2e/add.ts', line: 3 }),
      aTestCase({ title: 'waits' }),
    ]
    const now = [aTestCase({ ...inPay, status: 'SKIPPED', message: 'later' }), aTestCase({ title: 'new' })]
    const text = summaryWith(now, aBaselineOf(before))
    expect(text).toContain('1 passed · 1 skipped · 1 added · 2 removed · 1 newly skipped · test time')
    expect(listIn(text, 'Newly skipped (1)')).toEqual(['pays <b> · e2e/pay.ts · later'])
    expect(listIn(text, 'Removed (2)')).toEqual(['adds · e2e/add.ts', 'waits'])
    expect(summaryWith(before, aBaselineOf(before))).not.toMatch(/removed|skipped|added/i)
  })

  it('lists the cases that passed now and were bad before, the most frequent first', () => {
    const cases = (status: string, ...titles: readonly string[]) => titles.map((title) => aTestCase({ title, status }))
    const now = cases('PASSED', 'a', 'b', 'c', 'd')
    const runs = [cases('FAILED', 'a', 'b', 'd'), [...cases('FLAKY', 'b'), ...cases('PASSED', 'a', 'c')]]
    const text = summaryWith(now, aBaselineOf(...runs))
    expect(tableRows(renderedPage(text))[1]?.[0]).toBe('✅ Passed')
    expect(listIn(text, 'Unstable in earlier runs (3)')).toEqual([
      'b · 2 of 2 runs',
      'd · 1 of 1 run',
      'a · 1 of 2 runs',
    ])
  })

  it('has at most a hundred cases in a list, twenty unstable ones, and a thousand in all', () => {
    const gone = many(20_000, { filePath: 'e2e/gone.ts' })
    const text = summaryWith(many(2_000, {}), aBaselineOf([...gone, ...many(150, { status: 'FLAKY' })]))
    expect(listIn(text, 'Removed (20,000)')?.slice(99)).toEqual(['case 99 · e2e/gone.ts', '… and 19,900 more'])
    expect(listIn(text, 'Unstable in earlier runs (150)')?.slice(19)).toEqual([
      'case 19 · e2e/pay.ts · 1 of 1 run',
      '… and 130 more',
    ])
    expect(casesIn(text)).toBe(1_000 - 120)
    expect(text).toContain('leaves out 1,120 of 2,000 test cases (1,120 passed)')
    expect(text).toContain('1,850 added · 20,000 removed')
    expect(Buffer.byteLength(text)).toBeLessThan(LIMIT_BYTES)
    expect(unbalancedTags(text)).toEqual([])
  })

  it('says if there is no room for the lists', () => {
    const long = aTestCase({ title: '&'.repeat(400) })
    const text = summaryWith(
      [long, ...many(900, { title: '&'.repeat(400) })],
      aBaselineOf([aTestCase({ title: 'gone' })]),
    )
    expect(text).not.toContain('<summary>Removed')
    expect(text).toContain(
      'This summary has no lists of removed, newly skipped and unstable test cases, because it would be too long.</p>',
    )
  })

  it('says so too if it leaves out nothing else', () => {
    const removed = many(100, { title: '&'.repeat(400), filePath: 'e2e/gone.ts' })
    const text = summaryWith(many(400, { status: 'FAILED', title: '&'.repeat(400) }), aBaselineOf(removed), 'FAILED')
    expect(casesIn(text)).toBe(400)
    expect(text).not.toContain('leaves out')
    expect(text).toMatch(/<p>This summary has no lists of [^.]*\.<\/p>\n$/)
  })
})

describe('the limits of the job summary', () => {
  it('are a thousand cases, of which the rows have no messages. The summary says what it left out, and which file has everything', () => {
    const message = 'x'.repeat(4_000)
    const testCases = Array.from({ length: 2_000 }, (_, index) =>
      aTestCase({ title: `case ${index}`, status: 'FAILED', message, filePath: 'e2e/pay.spec.ts', line: 12 }),
    )
    const text = summaryOf(failed(testCases), 0, '/reports')
    expect(casesIn(text)).toBe(1_000)
    expect(text.split('… The rest is left out.')).toHaveLength(101)
    expect(Buffer.byteLength(text)).toBeLessThan(LIMIT_BYTES)
    expect(text).toContain(
      '</details>\n<p>This summary leaves out 1,000 of 2,000 test cases (1,000 failed) and the messages of 900 test cases, but the report file <code>junit.xml</code> has everything.</p>\n',
    )
    expect(unbalancedTags(text)).toEqual([])
    expect(summaryOf(runOf({ PASSED: 2 }), 0, '/reports')).not.toContain('junit.xml')
  })

  // Each page is half of the limit or more, so that only the next one fits.
  const SHORT = { title: 'a', status: 'FAILED', message: 'first\nsecond' }
  it.each<[string, readonly TestCase[], readonly string[], readonly string[]]>([
    [
      'everything',
      [aTestCase(SHORT), ...testCasesBy({ PASSED: 900 })],
      ['first', 'second', 'Passed (900)'],
      ['leaves out'],
    ],
    [
      'what did not pass, with messages',
      [aTestCase(SHORT), ...Array.from({ length: 900 }, () => aTestCase({ title: '&'.repeat(400) }))],
      ['first', 'second', 'leaves out 900 of 901 test cases (900 passed).'],
      ['Passed (', 'no lists'],
    ],
    [
      'what did not pass, with the first lines of messages',
      Array.from({ length: 100 }, () => aTestCase({ ...SHORT, message: `first\n${'&'.repeat(2_000)}` })),
      ['first', 'leaves out the messages of 100 test cases.'],
      ['&&'],
    ],
    [
      'only its headline',
      Array.from({ length: 900 }, () => aTestCase({ ...SHORT, title: '&'.repeat(400) })),
      ['Tests failed: 900 of 900', 'This summary has only its headline, because it would be too long.'],
      ['first', 'run time'],
    ],
  ])('leave %s', (_, testCases, has, hasNot) => {
    const markdown = summaryOf(failed(testCases))
    expect(Buffer.byteLength(markdown)).toBeLessThan(LIMIT_BYTES)
    const { text } = renderedPage(markdown)
    for (const words of has) expect(text).toContain(words)
    for (const words of hasNot) expect(text).not.toContain(words)
  })

  it('leave only the headline if the file has no room', () => {
    const headline =
      '\n\n## ❌ Tests failed: 5 of 40 · <code>web-shop</code>\n<p>This summary has only its headline, because it would be too long.</p>\n'
    expect(summaryOf(ENDINGS.failed, 899_990)).toBe(headline)
    expect(summaryOf(ENDINGS.failed, 2_000_000)).toBe(headline)
  })

  it('make the summary begin on a new line below what the file contains already', () => {
    const before = '<table><tr><td>never closed'
    const page = renderedPage(before + summaryOf(ENDINGS.passed, before.length))
    expect(page.elements.some(({ tagName }) => tagName === 'h2')).toBe(true)
  })
})

it('the summary of invalid inputs has a sentence for each, in which only the values are code', () => {
  const messages = [fragment`Input wait: ${'maybe'} is wrong.`, fragment`Input branch: ${'<b>@octocat'}`]
  const page = renderedPage(render(problemsSummary(fragment`Invalid inputs`, messages)))
  expect(page.elements.map(({ tagName }) => tagName)).toEqual(['h2', 'p', 'ul', 'li', 'code', 'li', 'code'])
  expect(page.codes).toEqual(['maybe', '<b>@octocat'])
  expect(page.text).toContain('Input wait: maybe is wrong.')
})
