/** Undefined if the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Parses JSON and keeps its numbers: one that JavaScript would write in another way (12345678901234567890, 1.0) becomes
 * the text that it was written as.
 */
export function parseKeepingNumbers(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && String(value) !== context?.source ? context?.source : value,
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a JSON object that somebody else wrote; none if it is no object. */
export function fieldsOf(value: unknown): Partial<Record<string, unknown>> {
  return isObject(value) ? value : {}
}
