declare const brand: unique symbol

/**
 * Text that somebody else wrote: the service, a test's author, an error response. It is a string at run time, but not
 * for the type checker. So only `text/safe-text.ts` makes output of it. For comparisons, use `String(text)`.
 */
export interface Untrusted {
  readonly [brand]: 'untrusted text'
}

/** Marks text from outside. */
export function untrusted(text: string): Untrusted {
  return text as unknown as Untrusted
}

/** The message of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
