import { test } from 'node:test'
import { price } from './cart.mjs'

test('has a price', () => price(0))
