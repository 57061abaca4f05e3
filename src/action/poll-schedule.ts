const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/**
 * How long to pause before the next poll. A fiftieth of the time already waited keeps the delay at about 2 % of the
 * run's length and the number of polls at a logarithm of it, until the longest pause makes it one poll in 15 s.
 *
 * @param jitter a number from 0 to 1, drawn once for the whole wait, which makes each pause up to a tenth longer. A step
 *   with its own jitter steadily leaves those that began with it; with a new number for each pause it would stay near
 *   them on average. At the longest pause the jitter is a two-hundredth, which keeps an hour's run under 400 requests.
 */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  const grownMs = Math.max(SHORTEST_PAUSE_MS, waitedMs / 50) * (1 + jitter / 10)
  return Math.min(grownMs, LONGEST_PAUSE_MS * (1 - (1 - jitter) / 200))
}
