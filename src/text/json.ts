// test/inputs/env-overrides.test.ts tests the numbers, and test/service/decode.test.ts whatever JSON a service may send.

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
 * is the number's text. Numbers in JSON that is nested thousands of levels deep stay numbers, because V8 visits the values
 * with a recursion.
 */
export function parseKeepingNumbers(text: string): unknown {
  const keepNumber = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && String(value) !== context?.source ? context?.source : value
  try {
    return JSON.parse(text, keepNumber)
  } catch (error) {
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a JSON value that somebody else wrote. Empty if the value is not an object. */
export function fieldsOf(value: unknown): Partial<Record<string, unknown>> {
  return isObject(value) ? value : {}
}
