import { type Cart, subtotal } from './cart.ts'
import { type Cents, percentOf } from './money.ts'

export interface Bill {
  readonly goods: Cents
  readonly discount: Cents
  readonly shipping: Cents
  readonly vat: Cents
  readonly total: Cents
}

const FREE_SHIPPING_FROM: Cents = 50_00
const SHIPPING: Cents = 4_90
const VAT_PERCENT = 19

const VOUCHERS: ReadonlyMap<string, number> = new Map([
  ['WELCOME', 10],
  ['FRIENDS', 25],
])

/** What a customer pays. The shipping depends on what the goods cost before the discount. */
export function checkOut(cart: Cart, voucher?: string): Bill {
  if (cart.length === 0) throw new Error('The cart is empty.')
  const goods = subtotal(cart)
  const discount = percentOf(goods, discountPercent(voucher))
  const shipping = goods >= FREE_SHIPPING_FROM ? 0 : SHIPPING
  const net = goods - discount + shipping
  const vat = percentOf(net, VAT_PERCENT)
  return { goods, discount, shipping, vat, total: net + vat }
}

function discountPercent(voucher: string | undefined): number {
  if (voucher === undefined) return 0
  const percent = VOUCHERS.get(voucher.trim().toUpperCase())
  if (percent === undefined) throw new Error(`There is no voucher "${voucher}".`)
  return percent
}
