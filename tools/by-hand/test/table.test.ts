import { expect, it } from 'vitest'
import { PLAYWRIGHT_ARGUMENTS } from '../table/playwright-arguments.ts'
import { nameOf, ROWS } from '../table/table.ts'
import { VITEST_ARGUMENTS } from '../table/vitest-arguments.ts'

it('the table has no row twice, and a row for each set of arguments', () => {
  const names = ROWS.map(nameOf)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  const sets = [...Object.entries(VITEST_ARGUMENTS), ...Object.entries(PLAYWRIGHT_ARGUMENTS)]
  const missing = sets.filter(([project]) => !ROWS.some((row) => row.project.name === project))
  expect(missing).toEqual([])
  expect(ROWS.length).toBeGreaterThan(400)
})
