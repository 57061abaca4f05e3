import type { Fragment } from './safe-text.ts'

// Only types, which `npm run types` checks.

export interface Log {
  info(message: Fragment): void
  warning(message: Fragment): void
  /** Absent if debug logging is off. A call with `?.` then does not even build the message. */
  readonly debug?: ((message: Fragment) => void) | undefined
}
