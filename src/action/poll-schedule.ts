const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/**
 * How long to pause before the next poll. A twentieth of the time already waited keeps the delay at about 5 % of the
 * run's length and the number of polls at a logarithm of it, until the longest pause makes it one poll in 15 s. Chance
 * adds up to a tenth, so that steps started together do not poll together; at the longest pause it takes off a
 * twentieth instead, which keeps an hour's run under 300 requests.
 *
 * @param random a number from 0 to 1
 */
export function adaptivePauseMs(waitedMs: number, random: number): number {
  const pauseMs = Math.max(SHORTEST_PAUSE_MS, waitedMs / 20) * (1 + random / 10)
  return pauseMs < LONGEST_PAUSE_MS ? pauseMs : LONGEST_PAUSE_MS * (1 - random / 20)
}
