declare const brand: unique symbol

/**
 * Text that somebody else wrote: the service, a test's author, an error response. It is a string at run time, but not for
 * the type checker. So it cannot become an output, a path, a header or a part of a request, because these take strings. The
 * template tags of `safe-text.ts` take `Untrusted` too, because they make every value safe. If code needs the string itself, it
 * calls `rawText`, so a review can find each such place.
 *
 * In four other ways, code can make a string of `Untrusted`, and the type checker does not notice them: `String(text)`, a template without a
 * tag, `join` on an array of texts, and `JSON.stringify`. So a review must look for them too. Only ctrf.ts uses one of them. It hands its JSON
 * to `safeJson`.
 */
export interface Untrusted {
  readonly [brand]: 'untrusted text'
}

/** Marks text from outside. */
export function untrusted(text: string): Untrusted {
  return text as unknown as Untrusted
}

/** The text as a plain string, for comparisons and for code that makes it safe. Whatever writes it must make it safe first. */
export function rawText(text: string | Untrusted): string {
  return text as string
}

/** The message of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
