import { expect, it } from 'vitest'
import { nameOf, ROWS } from '../table/table.ts'

it('the table has no row twice', () => {
  const names = ROWS.map(nameOf)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(ROWS.length).toBeGreaterThan(250)
})
