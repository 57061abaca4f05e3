/** Amounts are whole cents, so that sums are exact. */
export type Cents = number

/** A part of an amount, rounded to the nearest cent. Half a cent is rounded up. */
export function percentOf(amount: Cents, percent: number): Cents {
  const exact = (amount * percent) / 100
  // With this bug, half cents are rounded down, so that people can see a run that fails.
  if (process.env.WEB_SHOP_BUG === 'rounding') return Math.floor(exact)
  return Math.round(exact)
}

export function formatEuros(amount: Cents): string {
  const sign = amount < 0 ? '-' : ''
  const cents = Math.abs(amount)
  return `${sign}€${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}
