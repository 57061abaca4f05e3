declare const brand: unique symbol

/**
 * Text that somebody else wrote: the service, a test's author, an error response. It is a string at run time, but not for
 * the type checker. So it cannot become an output, a path, a header or a part of a request, because these take strings. The
 * exceptions are `String(text)`, which comparisons use, and a template without a tag. A review must look for both. The template
 * tags of `safe-text.ts` take `Untrusted` too, because they make every value safe.
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
