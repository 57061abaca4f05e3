import assert from 'node:assert'
import { after, before, describe, it, test } from 'node:test'

describe('cart', () => {
  it('adds', () => {})
  it('fails', () => {
    assert.strictEqual(1, 2)
  })
  it.skip('is skipped', () => {})
  it.todo('is to do', () => {
    throw new Error('later')
  })
  describe('inner', () => {
    it('is deep', () => {})
  })
})

describe('before', () => {
  before(() => {
    throw new Error('no database')
  })
  it('never runs', () => {})
})

describe('after', () => {
  after(() => {
    throw new Error('no clean-up')
  })
  it('has run', () => {})
})

test('parent', async (t) => {
  await t.test('child', () => {})
  throw new Error('the parent itself')
})

test('hangs', { timeout: 20 }, () => new Promise(() => {}))
