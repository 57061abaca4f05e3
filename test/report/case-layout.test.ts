import { describe, expect, it } from 'vitest'
import { comparePast } from '../../src/model/baseline.ts'
import { caseTable, foldableCase } from '../../src/report/case-layout.ts'
import { render } from '../../src/text/safe-text.ts'
import { aBaseline, anOutcome, aTestCase, type TestCaseFields } from '../support/builders.ts'
import { renderedPage, tableRows } from '../support/rendered-page.ts'

const table = (cases: readonly TestCaseFields[]) => render(caseTable(cases.map(aTestCase), anOutcome()))
const rows = (cases: readonly TestCaseFields[]) => tableRows(renderedPage(table(cases)))

describe('a table of test cases', () => {
  it('has status, test and duration, and each status has words and a sign', () => {
    const statuses = ['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'NEW <b>', '', 'FLAKY', 'SKIPPED', 'PASSED']
    const cases = statuses.map((status) => ({ title: 'a', status }))
    expect(rows(cases)).toEqual([
      ['Status', 'Test', 'Duration'],
      ['❌ Failed', 'a', '1.2 s'],
      ['❌ Failed', 'a', '1.2 s'],
      ['⏱️ Timed out', 'a', '1.2 s'],
      ['⚠️ Interrupted', 'a', '1.2 s'],
      ['❔ NEW <b>', 'a', '1.2 s'],
      ['❔ No status', 'a', '1.2 s'],
      ['🔁 Flaky', 'a', '1.2 s'],
      ['⏭️ Skipped', 'a', '1.2 s'],
      ['✅ Passed', 'a', '1.2 s'],
    ])
  })

  it('never wraps a status or a duration', () => {
    const cells = renderedPage(table([{ status: 'PASSED' }])).elements.filter(({ tagName }) => tagName === 'td')
    expect(cells.map(({ attrs }) => attrs.some(({ name }) => name === 'nowrap'))).toEqual([true, false, true])
  })

  it('has the file of a case, and its line if it has one', () => {
    const file = { title: 'a', filePath: 'e2e/pay.ts' }
    const [, failed, passed] = rows([{ ...file, status: 'FAILED', line: 12 }, file])
    expect([failed?.[1], passed?.[1]]).toEqual(['a\ne2e/pay.ts:12', 'a\ne2e/pay.ts'])
  })

  it('links to the line at the tested commit if the commit is known, and to the file of a case that passed', () => {
    const sourceUrl = `https://github.com/octo/shop/blob/${'0a'.repeat(20)}`
    const file = { title: 'a', filePath: 'e2e/#1 <pay>?/50%.ts' }
    const testCases = [aTestCase({ ...file, status: 'FAILED', line: 12 }), aTestCase(file)]
    const text = render(caseTable(testCases, anOutcome({ subject: { sourceUrl } })))
    const link = `${sourceUrl}/e2e/%231%20%3Cpay%3E%3F/50%25.ts`
    expect(text).toContain(`<br><a href="${link}#L12"><code>e2e/#1 &lt;pay&gt;?/50%.ts:12</code></a></td>`)
    expect(text).toContain(`<br><a href="${link}"><code>e2e/#1 &lt;pay&gt;?/50%.ts</code></a></td>`)
  })

  it('has the reason of a skipped case', () => {
    const message = 'later: the shop has no cart yet\n  at x'
    expect(rows([{ title: 'a', status: 'SKIPPED', filePath: 'e2e/pay.ts', message }])[1]?.[1]).toBe(
      'a\ne2e/pay.ts\nlater: the shop has no cart yet',
    )
  })

  it('has a dash if a duration is missing', () => {
    expect(rows([{ title: 'a', durationMs: undefined }])[1]).toEqual(['✅ Passed', 'a', '–'])
  })

  it('truncates titles, and a status that this version does not know', () => {
    const row = rows([{ title: 'word '.repeat(200).trim(), status: 'X'.repeat(600) }])[1]
    expect(row?.slice(0, 2)).toEqual([`❔ ${'X'.repeat(499)}…`, `${'word '.repeat(99)}word…`])
  })
})

it('says beside the status of a part whether the failure is new', () => {
  const testCase = aTestCase({ title: 'pays', status: 'FAILED' })
  const outcome = { ...anOutcome(), past: comparePast([testCase], aBaseline({})) }
  expect(render(foldableCase(testCase, outcome, { isOpen: false, message: 'first line' }))).toContain(
    '<summary>❌ Failed · <b>new</b> · <b><code>pays</code></b><br>1.2 s</summary>',
  )
})

describe('a case that can be folded', () => {
  const WHOLE: Parameters<typeof foldableCase>[2] = { isOpen: true, message: 'whole' }
  const REASON = { message: 'expected 41\n  to be 42 <b>', filePath: 'e2e/pay.ts', line: 1_012 }
  const partOf = (fields: TestCaseFields, options = WHOLE) =>
    render(foldableCase(aTestCase({ title: 'pays', status: 'FAILED', ...fields }), anOutcome(), options))

  it.each([
    ['FAILED', '❌ Failed'],
    ['TIMEDOUT', '⏱️ Timed out'],
    ['BLOCKED', '❔ <code>BLOCKED</code>'],
    ['FLAKY', '🔁 Flaky'],
  ])('has status, title, place, duration and the first line of the message, and below it the message: %s', (status, shown) => {
    expect(partOf({ status, ...REASON })).toBe(
      `<details open><summary>${shown} <b><code>pays</code></b><br><code>e2e/pay.ts:1012</code> · 1.2 s<br><code>expected 41</code></summary><pre lang="diff">  to be 42 &lt;b&gt;</pre></details>\n`,
    )
  })

  it('may have no message, no place and no duration', () => {
    expect(partOf({ durationMs: undefined }, { isOpen: false, message: 'whole' })).toBe(
      '<details><summary>❌ Failed <b><code>pays</code></b></summary></details>\n',
    )
    expect(partOf({ filePath: 'a.ts' })).toContain('<br><code>a.ts</code> · 1.2 s</summary></details>')
  })

  it.each([
    ['has one line', 'expected 41', undefined],
    ['has a first line that is too long for its place', 'x'.repeat(501), 'x'.repeat(501)],
    ['has a first line that fits its place', `${'x'.repeat(500)}\nb`, 'b'],
    [
      'is of pytest, which repeats its lines beside the code',
      'assert 3 == 2\n +  where 3 = add(1)\n\ndef test_adds():\n>   assert add(1) == 2\nE   assert 3 == 2\nE    +  where 3 = add(1)\n\ntest_add.py:3',
      'def test_adds():&#10;&gt;   assert add(1) == 2&#10;E   assert 3 == 2&#10;E    +  where 3 = add(1)&#10;&#10;test_add.py:3',
    ],
  ])('has no line of the message twice, if the message %s', (_, message, block) => {
    expect(/<pre lang="diff">(.*)<\/pre>/.exec(partOf({ message }))?.[1]).toBe(block)
  })

  it('may have only the first line of its message', () => {
    expect(partOf(REASON, { isOpen: false, message: 'first line' })).toMatch(
      /<br><code>expected 41<\/code><\/summary><\/details>\n$/,
    )
  })

  it('shows the lines of the message as they are', () => {
    const message = 'expected\n\n- 48 *a* @octocat\n+ 47 ```\n    <i>::error::x\n# 1\n'
    const { elements } = renderedPage(partOf({ message }))
    const [block, ...others] = elements.filter(({ tagName }) => tagName === 'pre')
    expect(block?.childNodes).toMatchObject([
      { nodeName: '#text', value: message.slice('expected\n\n'.length).trimEnd() },
    ])
    expect(block?.attrs).toEqual([{ name: 'lang', value: 'diff' }])
    expect(others).toEqual([])
  })

  it('has at most 20 lines and 2,000 characters of the message, and a last line says what is left out', () => {
    const linesOf = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')
    const blockOf = (message: string) =>
      /<pre lang="diff">(.*)<\/pre>/.exec(partOf({ message: `first\n${message}` }))?.[1]
    expect(blockOf(linesOf(20))).toMatch(/&#10;line 20$/)
    expect(blockOf(linesOf(21))).toMatch(/&#10;line 20&#10;… 1 more line$/)
    expect(blockOf(linesOf(2_020))).toMatch(/&#10;line 20&#10;… 2,000 more lines$/)
    expect(blockOf('😀'.repeat(2_000))).toBe('😀'.repeat(2_000))
    expect(blockOf(`a${'😀'.repeat(2_000)}`)).toBe(`a${'😀'.repeat(1_998)}…&#10;… The rest is left out.`)
    expect(blockOf(`${'\n'.repeat(30)}why${'\n'.repeat(30)}`)).toBe('why')
  })
})
