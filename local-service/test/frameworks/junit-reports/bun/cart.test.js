import { beforeAll, describe, expect, it, test } from 'bun:test'

describe('cart', () => {
  it('adds', () => {})
  it('fails', () => {
    expect(1).toBe(2)
  })
  it.skip('is skipped', () => {})
  it.todo('is to do')
  describe('inner', () => {
    it('is deep', () => {
      throw new Error('no <money> & "x"')
    })
  })
})
describe('hooks', () => {
  beforeAll(() => {
    throw new Error('no database')
  })
  it('never runs', () => {})
})
let tries = 0
test(
  'is flaky',
  () => {
    if (tries++ < 1) throw new Error('first')
  },
  { retry: 2 },
)
