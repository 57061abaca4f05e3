const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/**
 * How long to pause before the next poll. A twentieth of the time already waited keeps the delay at about 5 % of the
 * run's length and the number of polls at a logarithm of it, until the longest pause makes it one poll in 15 s.
 *
 * @param jitter a number from 0 to 1, drawn once for the whole wait, which makes each pause up to a tenth longer. With a
 *   jitter of its own, a step steadily leaves those that began with it; with a new number for each pause it would stray
 *   about them, and ten thousand of them would still come in waves after an hour. At the longest pause the jitter is
 *   worth a two-hundredth, which keeps an hour's run under 300 requests.
 */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  const grownMs = Math.max(SHORTEST_PAUSE_MS, waitedMs / 20) * (1 + jitter / 10)
  return Math.min(grownMs, LONGEST_PAUSE_MS * (1 - (1 - jitter) / 200))
}
