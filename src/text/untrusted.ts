declare const brand: unique symbol

/**
 * Text that somebody else wrote: the service, a test's author, an error response. At run time it is the plain string;
 * for the type checker it is no string at all, so that it can leave the action only through `text/safe-text.ts`.
 */
export interface Untrusted {
  readonly [brand]: 'untrusted text'
}

/** Marks text from outside. There is no way back but the writers of `text/safe-text.ts`. */
export function untrusted(text: string): Untrusted {
  return text as unknown as Untrusted
}
