/**
 * Parses JSON and keeps its numbers: one that JavaScript would write in another way (12345678901234567890, 1.0) becomes
 * the text that it was written as.
 */
export function parseKeepingNumbers(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && String(value) !== context?.source ? context?.source : value,
  )
}
