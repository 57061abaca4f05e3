/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a JSON value that somebody else wrote. Empty if the value is not an object. */
export function fieldsOf(value: unknown): Partial<Record<string, unknown>> {
  return isObject(value) ? value : {}
}
