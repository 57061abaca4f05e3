/** Amounts are whole cents, so that sums are exact. */
export type Cents = number

/** A part of an amount, rounded to the nearest cent; half a cent goes up. */
export function percentOf(amount: Cents, percent: number): Cents {
  const exact = (amount * percent) / 100
  // The bug to show a failing run with: it forgets the half cents.
  if (process.env.WEB_SHOP_BUG === 'rounding') return Math.floor(exact)
  return Math.round(exact)
}

export function formatEuros(amount: Cents): string {
  const sign = amount < 0 ? '-' : ''
  const cents = Math.abs(amount)
  return `${sign}€${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}
