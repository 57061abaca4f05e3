/** A run that was only just started may not be known yet to the part of the service that answers. */
const UNKNOWN_AFTER_START_MS = 15_000

/**
 * Whether a 404 may be said of a run that exists all the same.
 *
 * @param startedAtMs when this step started the run; undefined where somebody else did, before
 */
export function isWithinNotFoundGrace(startedAtMs: number | undefined, nowMs: number): boolean {
  return startedAtMs !== undefined && nowMs - startedAtMs < UNKNOWN_AFTER_START_MS
}
