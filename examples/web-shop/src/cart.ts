import type { Cents } from './money.ts'

export interface Product {
  readonly sku: string
  readonly price: Cents
}

export interface CartLine {
  readonly product: Product
  readonly quantity: number
}

export type Cart = readonly CartLine[]

/** Returns the cart with more of a product. Each product has only one line in the cart. */
export function add(cart: Cart, product: Product, quantity = 1): Cart {
  if (!Number.isInteger(quantity) || quantity < 1) {
    throw new RangeError(`A quantity is a whole number from 1 on, got ${quantity}.`)
  }
  const known = cart.find((line) => line.product.sku === product.sku)
  if (known === undefined) return [...cart, { product, quantity }]
  return cart.map((line) => (line === known ? { product, quantity: line.quantity + quantity } : line))
}

export function remove(cart: Cart, sku: string): Cart {
  return cart.filter((line) => line.product.sku !== sku)
}

export function subtotal(cart: Cart): Cents {
  return cart.reduce((sum, line) => sum + line.product.price * line.quantity, 0)
}
