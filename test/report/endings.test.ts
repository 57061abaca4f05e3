import { expect, it } from 'vitest'
import type { StepOutcome } from '../../src/model/outcome.ts'
import { annotations } from '../../src/report/annotations.ts'
import { countsLine } from '../../src/report/counts.ts'
import { endingText, verdictLevel, verdictSentences } from '../../src/report/ending.ts'
import { jobSummary } from '../../src/report/job-summary.ts'
import { commandMessage, render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, aTestCase } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { renderedPage } from '../support/rendered-page.ts'

it('every ending has the words of endings.md', async () => {
  const page = Object.entries(ENDINGS).map(([name, outcome]) => `## ${name}\n\n${pageOf(outcome)}\n`)
  await expect(`# How every ending is worded\n\n${page.join('\n')}`).toMatchFileSnapshot('endings.md')
})

it('the verdict truncates titles', () => {
  const run = aRun({ status: 'FAILED', testCases: [aTestCase({ title: 'x'.repeat(501), status: 'FAILED' })] })
  expect(render(verdictSentences(anOutcome({ run })))).toContain(`“${'x'.repeat(499)}…”`)
})

it('the verdict names fewer titles if they are long, so that what a person can do is not cut off', () => {
  const titles = ['a', 'b', 'c'].map((letter) => letter.repeat(490))
  const testCases = titles.map((title) => aTestCase({ title, status: 'FAILED' }))
  const verdict = verdictSentences(anOutcome({ run: aRun({ status: 'PASSED', testCases }), strict: true }))
  expect(commandMessage(verdict)).toMatch(/3 of 3 test cases failed \(“a+”, “b+”, and 1 more\)/)
  expect(commandMessage(verdict)).toMatch(/because the input strict is true\.$/)
})

it('the line of counts has no time if the duration of the run is not known', () => {
  const line = countsLine(anOutcome({ run: aRun({ startedAt: undefined, testCases: [] }) }))
  expect(line && render(line)).toBe('No test cases')
})

function pageOf(outcome: StepOutcome): string {
  const { conclusion, success } = outcome
  const { title } = endingText(outcome)
  const sentences = verdictSentences(outcome)
  const verdict = { level: verdictLevel(outcome), title: render(title), message: sentences }
  return [
    `${success ? 'success' : 'failure'}, ${conclusion}`,
    ...[verdict, ...(success ? [] : annotations(outcome))].map(
      ({ level, title, message }) => `- ${level === 'info' ? 'log line' : level} **${title}** ${render(message)}`,
    ),
    ...headOf(outcome).map((line) => `> ${line}`),
  ].join('\n')
}

/** The part of the job summary above its tables, as people read it. */
function headOf(outcome: StepOutcome): readonly string[] {
  const [head = ''] = render(jobSummary(outcome, 0)).split(/<table>|<details/)
  return renderedPage(head).text.trim().split('\n')
}
