jest.retryTimes(1)
let tries = 0

describe('cart', () => {
  test('adds', () => {})
  test('fails', () => {
    expect(1).toBe(2)
  })
  test.skip('is skipped', () => {})
  test.todo('is to do')
  test('is flaky', () => {
    tries += 1
    if (tries < 2) throw new Error('first try')
  })
  describe('once', () => {
    test('adds only once', () => {})
  })
})

describe('hooks', () => {
  beforeAll(() => {
    throw new Error('no database')
  })
  test('never runs', () => {})
})
