import { before, describe, it } from 'node:test'

describe('cart', () => {
  before(() => {
    throw new Error('no db')
  })
  it('adds', () => {})
  it('pays', () => {})
})
