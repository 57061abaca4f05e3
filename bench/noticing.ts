import { adaptivePauseMs } from '../src/action/wait-for-run.ts'
import { mean, type Part, table } from './table.ts'

const LENGTHS_MIN = [0.5, 1, 5, 10, 30, 60, 120]
/** So many lengths around each, and so many steps with different jitter, so that no lucky phase decides. */
const [VARIATIONS, STEPS] = [200, 25]

/**
 * How late a step learns of its run's end and what that costs the service, by calculation with the real schedule. What it
 * promises is tested, in test/action/poll-schedule.test.ts.
 */
export function noticing(): Part {
  return {
    title: 'Noticing the end',
    findings: [],
    details: `By calculation with the real schedule, for lengths that vary by a tenth and responses that take no time.

${table(
  ['Run', 'Polls', 'Mean delay', 'Worst delay', 'Polls every 10 s', 'Mean delay then'],
  LENGTHS_MIN.map((minutes) => {
    const adaptive = waitsFor(minutes, adaptivePauseMs)
    const fixed = waitsFor(minutes, () => 10_000)
    const [polls, fixedPolls] = [adaptive, fixed].map((waits) => mean(waits.map((wait) => wait.polls)).toFixed(0))
    const delays = adaptive.map(({ delayMs }) => delayMs)
    return [
      minutes < 1 ? `${minutes * 60} s` : `${minutes} min`,
      polls,
      seconds(mean(delays)),
      seconds(Math.max(...delays)),
      fixedPolls,
      seconds(mean(fixed.map(({ delayMs }) => delayMs))),
    ].map(String)
  }),
)}`,
  }
}

function waitsFor(minutes: number, pauseMs: (waitedMs: number, jitter: number) => number) {
  return Array.from({ length: VARIATIONS * STEPS }, (_, index) => {
    const runMs = minutes * 60_000 * (0.9 + Math.floor(index / STEPS) / (5 * VARIATIONS))
    const jitter = (index % STEPS) / (STEPS - 1)
    let polls = 1
    let atMs = 0
    for (; atMs < runMs; polls++) atMs += pauseMs(atMs, jitter)
    return { polls, delayMs: atMs - runMs }
  })
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
}
