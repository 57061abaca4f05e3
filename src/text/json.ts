/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Parses JSON. If JavaScript would write a number differently than the text does (12345678901234567890, 1.0), the value
 * is the number's text.
 */
export function parseKeepingNumbers(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && String(value) !== context?.source ? context?.source : value,
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a JSON value that somebody else wrote. Empty if the value is not an object. */
export function fieldsOf(value: unknown): Partial<Record<string, unknown>> {
  return isObject(value) ? value : {}
}
