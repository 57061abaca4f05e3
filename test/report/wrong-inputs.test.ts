import { describe, expect, it } from 'vitest'
import { logLine, render } from '../../src/report/safe-text.ts'
import { invalidInputsSummary } from '../../src/report/wrong-inputs.ts'
import { renderedPage } from '../support/rendered-page.ts'

describe('the summary of wrong inputs', () => {
  it('lists each sentence whole, as text', () => {
    const long = logLine`Input branch: ${'<b>@octocat '.repeat(80)}`
    const page = renderedPage(
      render(invalidInputsSummary([logLine`Input wait: "maybe" is neither true nor false.`, long])),
    )
    expect(page.elements.map(({ tagName }) => tagName)).toEqual(['h2', 'p', 'ul', 'li', 'code', 'li', 'code'])
    expect(page.codes).toEqual(['Input wait: "maybe" is neither true nor false.', render(long)])
  })
})
