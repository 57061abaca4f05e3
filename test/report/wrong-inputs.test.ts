import { describe, expect, it } from 'vitest'
import { line, textOf } from '../../src/report/inert.ts'
import { wrongInputsSummary } from '../../src/report/wrong-inputs.ts'
import { renderedPage } from '../support/rendered-page.ts'

describe('the summary of wrong inputs', () => {
  it('lists each sentence whole, as text', () => {
    const long = line`Input branch: ${'<b>@octocat '.repeat(80)}`
    const page = renderedPage(textOf(wrongInputsSummary([line`Input wait: "maybe" is neither true nor false.`, long])))
    expect(page.elements.map(({ tagName }) => tagName)).toEqual(['h2', 'p', 'ul', 'li', 'code', 'li', 'code'])
    expect(page.codes).toEqual(['Input wait: "maybe" is neither true nor false.', textOf(long)])
  })
})
