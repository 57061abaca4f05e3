import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StepOutcome } from '../../src/model/outcome.ts'
import type { TestCase } from '../../src/model/run.ts'
import { invalidInputsSummary, jobSummary } from '../../src/report/job-summary.ts'
import { fragment, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { randomRuns } from '../setup/seed.ts'
import { anOutcome, aRun, aTestCase, type TestCaseFields, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { renderedPage, tableRows, unbalancedTags } from '../support/rendered-page.ts'

const LIMIT_BYTES = 900_000

const summaryOf = (outcome: StepOutcome, alreadyBytes = 0, reportDir?: string) =>
  render(jobSummary(outcome, { alreadyBytes, reportDir }))

/** On Windows each line break becomes two bytes before GitHub counts it. */
const onWindowsBytes = (text: string) => Buffer.byteLength(text.replaceAll('\n', '\r\n'))
const rowsOf = (text: string) => text.split('<td nowrap>').length - 1

const runOf = (counts: Record<string, number>) =>
  anOutcome({ run: aRun({ status: 'FAILED', testCases: testCasesBy(counts) }) })

describe('the job summary', () => {
  it('shows the most important first', () => {
    const testCases = [
      aTestCase({ title: 'pays by card' }),
      aTestCase({ title: 'search › finds <shoes>', status: 'TIMEDOUT', durationMs: 30_000 }),
      aTestCase({ title: 'checkout', status: 'FAILED', durationMs: 340 }),
    ]
    expect(summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))).toBe(`## ❌ Tests failed: 2 of 3
<p>2 failed (1 timed out) · 1 passed · run time 3 min 4 s</p>
<p>Project <code>web-shop</code> · Environment <code>staging</code> · Branch <code>main</code> · Run <code>run_7f3a</code></p>
<table>
<tr><th align="left">Status</th><th align="left">Test</th><th align="right">Duration</th></tr>
<tr><td nowrap>❌ Failed</td><td><code>checkout</code></td><td align="right" nowrap>340 ms</td></tr>
<tr><td nowrap>⏱️ Timed out</td><td><code>search › finds &lt;shoes&gt;</code></td><td align="right" nowrap>30 s</td></tr>
</table>
<details><summary>Passed (1)</summary>
<table>
<tr><th align="left">Status</th><th align="left">Test</th><th align="right">Duration</th></tr>
<tr><td nowrap>✅ Passed</td><td><code>pays by card</code></td><td align="right" nowrap>1.2 s</td></tr>
</table>
</details>
`)
  })

  it('shows the five slowest of the cases that ran, if there are more of them', () => {
    const ran = Array.from({ length: 6 }, (_, index) =>
      aTestCase({ title: `takes ${index} s`, durationMs: index * 1_000 }),
    )
    const skipped = aTestCase({ title: 'skipped', status: 'SKIPPED', durationMs: 9_000 })
    const slowestOf = (testCases: readonly TestCase[]) =>
      summaryOf(anOutcome({ run: aRun({ testCases }) })).split('Slowest (5)')[1]
    expect(slowestOf([...ran.slice(1), skipped])).toBeUndefined()
    expect(slowestOf([...ran, skipped])?.match(/takes \d s|skipped/g)).toEqual(
      [5, 4, 3, 2, 1].map((s) => `takes ${s} s`),
    )
  })

  it('counts the cases that have no result', () => {
    const testCases = testCasesBy({ PASSED: 2, RUNNING: 1, QUEUED: 1, CANCELLED: 1, NEW: 1, SKIPPED: 1 })
    const text = renderedPage(summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))).text
    expect(text).toContain('⚠️ Incomplete results: The action knows no result of 4 of 7 test cases.')
  })

  it('shows the first hundred cases that did not pass, and folds the rest', () => {
    const page = renderedPage(summaryOf(runOf({ FAILED: 130, PASSED: 1 })))
    const [open, folded] = page.elements.filter(({ tagName }) => tagName === 'table')
    expect(open?.parentNode?.nodeName).not.toBe('details')
    expect(folded?.parentNode?.nodeName).toBe('details')
    expect(tableRows(page).filter(([status]) => status === '❌ Failed')).toHaveLength(130 + 5)
  })
})

describe('why a test failed, in the job summary', () => {
  const reason = { message: 'expected 41\n  to be 42 <b>', filePath: 'e2e/pay.ts', line: 1_012 }
  const summaryOfCase = (fields: TestCaseFields) =>
    summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases: [aTestCase(fields)] }) }))

  it.each([
    'FAILED',
    'TIMEDOUT',
    'INTERRUPTED',
    'BLOCKED',
    'FLAKY',
  ])('is below the title of a case that is %s', (status) => {
    expect(summaryOfCase({ title: 'pays', status, ...reason })).toContain(
      '<td width="100%"><b><code>pays</code></b><br><code>e2e/pay.ts:1012</code></td><td align="right" nowrap>1.2 s</td></tr>\n</table>\n<pre lang="diff">expected 41&#10;  to be 42 &lt;b&gt;</pre>\n',
    )
  })

  it('may be a place without a line, or a message without a place', () => {
    expect(summaryOfCase({ title: 'a', status: 'FAILED', filePath: 'a.ts' })).toContain(
      '<td><b><code>a</code></b><br><code>a.ts</code></td>',
    )
    expect(summaryOfCase({ title: 'a', status: 'FAILED', message: 'why' })).toContain(
      '<td width="100%"><b><code>a</code></b></td><td align="right" nowrap>1.2 s</td></tr>\n</table>\n<pre lang="diff">why</pre>\n',
    )
  })

  it('has the path of a file that cannot be loaded once, although it is its title too', () => {
    const path = 'e2e/broken.ts'
    const text = summaryOfCase({ title: path, status: 'FAILED', message: 'why', filePath: path, line: 3 })
    expect(text).toContain('<td width="100%"><b><code>e2e/broken.ts:3</code></b></td>')
    expect(text.split(path)).toHaveLength(2)
  })

  it('is one block as a page shows it, with the lines of the message', () => {
    const message = 'expected\n\n- 48 *a* @octocat\n+ 47 ```\n    <i>::error::x\n# 1\n'
    const page = renderedPage(summaryOfCase({ status: 'FAILED', message }))
    const [block, ...others] = page.elements.filter(({ tagName }) => tagName === 'pre')
    expect(block?.childNodes).toMatchObject([{ nodeName: '#text', value: message.trimEnd() }])
    expect(block?.attrs).toEqual([{ name: 'lang', value: 'diff' }])
    expect(others).toEqual([])
  })

  // In a cell, a block that is wider than a phone would make the table as wide, with the title and the duration out of sight.
  it('is in no table, which ends above the message and goes on below it', () => {
    const open = [aTestCase({ title: 'a', status: 'FAILED', ...reason }), aTestCase({ title: 'b', status: 'FAILED' })]
    const last = aTestCase({ title: 'c', status: 'FAILED', ...reason })
    const shapeOf = (...testCases: readonly TestCase[]) =>
      renderedPage(summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) })))
        .elements.filter(({ tagName }) => ['table', 'th', 'tr', 'pre'].includes(tagName))
        .map(({ tagName, parentNode }) => (tagName === 'pre' ? `pre in ${parentNode?.nodeName}` : tagName))
    const [head, message] = [['table', 'tr', 'th', 'th', 'th'], 'pre in #document-fragment']
    expect(shapeOf(...open)).toEqual([...head, 'tr', message, 'table', 'tr'])
    expect(shapeOf(...open, last)).toEqual([...head, 'tr', message, 'table', 'tr', 'tr', message])
    expect(shapeOf(last)).toEqual([...head, 'tr', message])
  })

  it('has at most 20 lines and 2,000 characters, and a last line says what is left out', () => {
    const linesOf = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')
    const blockOf = (message: string) =>
      /<pre lang="diff">(.*)<\/pre>/.exec(summaryOfCase({ status: 'FAILED', message }))?.[1]
    expect(blockOf(linesOf(20))).toMatch(/&#10;line 20$/)
    expect(blockOf(linesOf(21))).toMatch(/&#10;line 20&#10;… 1 more line$/)
    expect(blockOf(linesOf(2_020))).toMatch(/&#10;line 20&#10;… 2,000 more lines$/)
    expect(blockOf('😀'.repeat(2_000))).toBe('😀'.repeat(2_000))
    expect(blockOf(`a${'😀'.repeat(2_000)}`)).toBe(`a${'😀'.repeat(1_998)}…&#10;… The rest is left out.`)
  })

  it('is open for five cases, and for more of them it is folded below its first line', () => {
    const failing = Array.from({ length: 5 }, () => aTestCase({ title: 'pays', status: 'FAILED', ...reason }))
    const sixth = aTestCase({ title: 'a', status: 'BLOCKED', message: 'alone' })
    const flaky = aTestCase({ title: 'b', status: 'FLAKY', message: 'of a\nflaky case' })
    const page = (...testCases: readonly TestCase[]) =>
      renderedPage(summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) })))
    const folded = ({ elements }: ReturnType<typeof renderedPage>) =>
      elements.filter(({ tagName, parentNode }) => tagName === 'details' && parentNode?.nodeName === 'td').length
    expect(folded(page(...failing))).toBe(0)
    expect(folded(page(...failing, flaky))).toBe(0)
    const six = page(...failing, sixth, flaky)
    expect(folded(six)).toBe(5)
    expect(tableRows(six)[1]?.[1]).toBe('pays\ne2e/pay.ts:1012\nexpected 41\nmore\n  to be 42 <b>')
    expect(tableRows(six)[6]?.[1]).toBe('a\nalone')
    expect(tableRows(six)[8]?.[1]).toBe('b')
    expect(six.text).toContain('of a\nflaky case')
  })

  it('has no blank lines at its beginning and its end, and they do not count', () => {
    const message = `${'\n'.repeat(30)}why${'\n'.repeat(30)}`
    expect(summaryOfCase({ status: 'FAILED', message })).toContain('<pre lang="diff">why</pre>')
  })

  it('is not repeated in the table of the slowest cases', () => {
    const testCases = Array.from({ length: 6 }, () => aTestCase({ status: 'FAILED', ...reason }))
    const text = summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))
    expect(text.split('e2e/pay.ts')).toHaveLength(7)
    expect(text.split('expected 41')).toHaveLength(7)
  })

  it('is the message of the run, and then no sentence repeats what the headline says', () => {
    const run = aRun({ status: 'FAILED', message: 'no browser\n::error::x\n@octocat', testCases: [] })
    const text = summaryOf(anOutcome({ run }))
    expect(text).toContain(
      '<p>The message of the run: <code>no browser</code></p><pre lang="diff">::error::x&#10;@octocat</pre>\n',
    )
    expect(summaryOf(anOutcome({ run: { ...run, message: untrusted('no browser') } }))).toContain(
      '<p>The message of the run: <code>no browser</code></p>\n',
    )
    expect(renderedPage(text).text).not.toMatch(/Look up the run at the service|finished as/)
  })

  it('is shown for the first hundred cases, and the summary says once that the others have no message', () => {
    const message = 'x'.repeat(4_000)
    const testCases = Array.from({ length: 2_000 }, (_, index) =>
      aTestCase({ title: `case ${index}`, status: 'FAILED', message, filePath: 'e2e/pay.spec.ts', line: 12 }),
    )
    const text = summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }), 0, '/reports')
    expect(rowsOf(text)).toBe(1_000)
    expect(text.split('… The rest is left out.')).toHaveLength(101)
    expect(text.lastIndexOf('left out.</pre>')).toBeLessThan(text.indexOf('More test cases that did not pass'))
    expect(Buffer.byteLength(text)).toBeLessThan(LIMIT_BYTES)
    expect(text).toContain(
      '</details>\n<p>This summary leaves out 1,005 of 2,000 test cases (1,005 failed) and the messages of 895 test cases, but the report file <code>junit.xml</code> has everything.</p>\n',
    )
    expect(text.match(/leaves out/g)).toHaveLength(1)
    expect(unbalancedTags(text)).toEqual([])
  })

  it('is left out with words of its own if every row fits', () => {
    const testCases = Array.from({ length: 101 }, () => aTestCase({ status: 'FAILED', message: 'why' }))
    const text = summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))
    expect(text).toMatch(/<p>This summary leaves out the messages of 1 test case\.<\/p>\n$/)
    expect(rowsOf(text)).toBe(101 + 5)
  })

  it('takes no room from the titles of other cases that did not pass, however long the messages are', () => {
    const message = '&'.repeat(2_000)
    const failing = Array.from({ length: 200 }, () => aTestCase({ status: 'FAILED', message }))
    const flaky = Array.from({ length: 20 }, () => aTestCase({ status: 'FLAKY', message }))
    const testCases = [...failing, ...flaky, aTestCase({ title: 'passes' })]
    const text = summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))
    expect(Buffer.byteLength(text)).toBeLessThan(LIMIT_BYTES)
    expect(rowsOf(text)).toBe(testCases.length + 5)
    const messages = text.split('&amp;</code>').length - 1
    expect(messages).toBeGreaterThan(80)
    expect(text).toContain(`<p>This summary leaves out the messages of ${220 - messages} test cases.</p>`)
    expect(unbalancedTags(text)).toEqual([])
  })
})

describe('the limits of the job summary', () => {
  it('are a thousand rows, the slowest five included, and the summary says how many rows it left out', () => {
    const text = summaryOf(runOf({ PASSED: 95_000, FAILED: 300, TIMEDOUT: 4_700 }))
    expect(rowsOf(text)).toBe(1000)
    expect(text).toMatch(
      /<p>This summary leaves out 99,005 of 100,000 test cases \(4,005 timed out, 95,000 passed\)\.<\/p>\n$/,
    )
    expect(text).toContain('<summary>More test cases that did not pass (4,900, the first 895 shown)</summary>')
    expect(text).toContain('<summary>Slowest (5)</summary>')
    expect(text).not.toContain('<summary>Passed')
    expect(Buffer.byteLength(text)).toBeLessThan(LIMIT_BYTES)
  })

  it('make the summary mention the report files, if they were written', () => {
    const left = { FLAKY: 1, SKIPPED: 1_000, NEW: 1, PASSED: 2 }
    expect(summaryOf(runOf(left), 0, '/tmp/a')).toMatch(
      /This summary leaves out 4 of 1,004 test cases \(2 skipped, 2 passed\), but the report file <code>junit.xml<\/code> has everything\.<\/p>\n$/,
    )
    expect(summaryOf(runOf({ PASSED: 2 }), 0, '/tmp/a')).not.toContain('junit.xml')
  })

  it('hold for titles that grow when they are escaped, and the summary stops between rows', () => {
    const titles = Array.from({ length: 1000 }, (_, index) => `${index} ${'<&😀.'.repeat(100)}`)
    const testCases = titles.map((title) => aTestCase({ title, status: 'FAILED' }))
    const text = summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))
    const shown = rowsOf(text) - 5
    expect(Buffer.byteLength(text)).toBeLessThan(LIMIT_BYTES)
    expect(Buffer.byteLength(text)).toBeGreaterThan(LIMIT_BYTES - 5_000)
    expect(onWindowsBytes(text)).toBeLessThan(1_048_576)
    expect(shown).toBeLessThan(1000)
    expect(text).toContain(`This summary leaves out ${1_000 - shown} of 1,000 test cases (${1_000 - shown} failed).`)
    expect(unbalancedTags(text)).toEqual([])
    expect(tableRows(renderedPage(text)).every((cells) => cells.length === 3)).toBe(true)
  })

  it('include what the file contains already, for any number of cases and any length', () => {
    const cases = fc.record({ count: fc.nat(1500), titleChars: fc.nat(300) })
    fc.assert(
      fc.property(cases, fc.nat(1_100_000), ({ count, titleChars }, alreadyBytes) => {
        const testCases = Array.from({ length: count }, () =>
          aTestCase({ title: '<'.repeat(titleChars), status: 'FAILED' }),
        )
        const text = summaryOf(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }), alreadyBytes)
        const isHeadlineAlone = /^\n*(## [^\n]*|<h2>[^\n]*<\/h2>)\n$/.test(text)
        expect(isHeadlineAlone || alreadyBytes + Buffer.byteLength(text) <= LIMIT_BYTES).toBe(true)
        expect(rowsOf(text)).toBeLessThanOrEqual(1000)
        // Every case is shown or counted as left out.
        const [, left = 0] = text.match(/This summary leaves out [\d,]+ of/) ?? [undefined, 1]
        if (!isHeadlineAlone && left === 1) expect(rowsOf(text)).toBe(count > 5 ? count + 5 : count)
      }),
      randomRuns(20),
    )
  })

  it('leave only the headline if the file has no room', () => {
    expect(summaryOf(ENDINGS.failed, 899_990)).toBe('\n\n## ❌ Tests failed: 5 of 40\n')
    expect(summaryOf(ENDINGS.failed, 2_000_000)).toBe('\n\n## ❌ Tests failed: 5 of 40\n')
  })

  it('make the summary begin on a new line below what the file contains already', () => {
    const before = '<table><tr><td>never closed'
    const page = renderedPage(before + summaryOf(ENDINGS.passed, before.length))
    expect(page.elements.some(({ tagName }) => tagName === 'h2')).toBe(true)
  })
})

describe('the summary of invalid inputs', () => {
  it('has a sentence for each, in which only the values are code', () => {
    const messages = [
      fragment`Input wait: ${'maybe'} is neither true nor false.`,
      fragment`Input branch: ${'<b>@octocat'}`,
    ]
    const page = renderedPage(render(invalidInputsSummary(messages)))
    expect(page.elements.map(({ tagName }) => tagName)).toEqual(['h2', 'p', 'ul', 'li', 'code', 'li', 'code'])
    expect(page.codes).toEqual(['maybe', '<b>@octocat'])
    expect(page.text).toContain('Input wait: maybe is neither true nor false.')
  })
})
