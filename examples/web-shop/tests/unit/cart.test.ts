import { describe, expect, it } from 'vitest'
import { add, type Product, remove, subtotal } from '../../src/cart.ts'

const mug: Product = { sku: 'mug', price: 7_50 }
const poster: Product = { sku: 'poster', price: 12_00 }

describe('cart', () => {
  it('keeps a product on one line when it is added twice', () => {
    const cart = add(add([], mug), mug, 2)
    expect(cart).toEqual([{ product: mug, quantity: 3 }])
  })

  it('costs the sum of its lines', () => {
    expect(subtotal(add(add([], mug, 2), poster))).toBe(27_00)
  })

  it('forgets a product that is taken out', () => {
    expect(remove(add(add([], mug), poster), 'mug')).toEqual([{ product: poster, quantity: 1 }])
  })

  it.each([0, -1, 1.5])('refuses a quantity of %s', (quantity) => {
    expect(() => add([], mug, quantity)).toThrow(RangeError)
  })
})
