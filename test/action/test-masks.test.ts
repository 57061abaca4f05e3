import { expect, test } from 'vitest'
import { isWrittenByMain } from '../../src/action/test-masks.ts'
import { jobSummary } from '../../src/report/job-summary.ts'
import { render } from '../../src/text/safe-text.ts'
import { ENDINGS } from '../support/endings.ts'
import { sourceText } from '../support/fake-world.ts'

// test-output.test.ts says which lines mask a value.

test('no value of which a part is a tag of a real summary may be masked, wherever the value begins and ends', () => {
  const pages = Object.values(ENDINGS).map((outcome) => render(jobSummary(outcome, 0)))
  // Of the text between the tags, only what touches them matters.
  const lines = new Set(pages.flatMap((page) => page.replace(/>[^<>\n]{9,}</g, '>one…two<').split('\n')))
  const values = new Set<string>()
  for (const line of lines)
    for (let from = 0; from < line.length; from++)
      for (const length of [4, 9, 25]) values.add(line.slice(from, from + length).trim())
  // Without its last quotation mark, an attribute goes on to the next one in the page.
  const withTags = [...values].filter((value) => /[<>]|^[^"]+"$/.test(value))
  expect(withTags.length).toBeGreaterThan(500)
  expect(withTags.filter((value) => !isWrittenByMain(value, sourceText()))).toEqual([])
})
