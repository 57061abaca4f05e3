import { describe, expect, it } from 'vitest'
import { add, type Cart } from '../../src/cart.ts'
import { checkOut } from '../../src/checkout.ts'

const mug = { sku: 'mug', price: 7_50 }
const chair = { sku: 'chair', price: 89_00 }

const oneMug: Cart = add([], mug)
const oneChair: Cart = add([], chair)

describe('checkout', () => {
  describe('shipping', () => {
    it('is charged for a small order', () => {
      expect(checkOut(oneMug).shipping).toBe(4_90)
    })

    it('is free from 50 euros on', () => {
      expect(checkOut(oneChair).shipping).toBe(0)
    })
  })

  describe('vouchers', () => {
    it('take their percentage off the goods', () => {
      expect(checkOut(oneChair, 'friends').discount).toBe(22_25)
    })

    it('are refused when nobody issued them', () => {
      expect(() => checkOut(oneMug, 'FREE4ALL')).toThrow('There is no voucher "FREE4ALL".')
    })
  })

  it('adds value added tax on goods and shipping, to the cent', () => {
    const { vat, total } = checkOut(oneMug)
    expect({ vat, total }).toEqual({ vat: 2_36, total: 14_76 })
  })

  it('refuses an empty cart', () => {
    expect(() => checkOut([])).toThrow('The cart is empty.')
  })
})
