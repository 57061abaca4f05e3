const assert = require('node:assert')

let tries = 0

describe('cart', () => {
  it('adds', () => {})
  it('fails', () => {
    assert.strictEqual(1, 2)
  })
  it.skip('is skipped', () => {})
  it('is flaky', function () {
    this.retries(1)
    tries += 1
    if (tries < 2) throw new Error('first try')
  })
  it('is slow', function (_done) {
    this.timeout(50)
  })
})

describe('cart.test', () => {
  it('has the name of its file', () => {})
})

describe('hooks', () => {
  before(() => {
    throw new Error('no database')
  })
  it('never runs', () => {})
})
