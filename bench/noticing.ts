import { adaptivePauseMs } from '../src/action/poll-schedule.ts'
import { type Finding, mean, type Part, table } from './table.ts'

/** The pauses of one step, by the time that it has waited. */
type Pauses = (waitedMs: number) => number

interface Schedule {
  readonly name: string
  readonly begin: (random: () => number) => Pauses
}

const ADAPTIVE: Schedule = {
  name: 'adaptive',
  begin(random) {
    const jitter = random()
    return (waitedMs) => adaptivePauseMs(waitedMs, jitter)
  },
}

const SCHEDULES: readonly Schedule[] = [
  ADAPTIVE,
  ...[5, 10, 30].map((seconds) => ({ name: `every ${seconds} s`, begin: () => () => seconds * 1_000 })),
]

const LENGTHS_S = [2, 10, 30, 60, 300, 600, 720, 1_800, 3_600, 7_200]
const RUNS_PER_LENGTH = 5_000
/** Long enough to have the longest pauses for most of it. */
const LOAD_RUN_MS = 1_800_000
const LOAD_STEPS = 10_000
/** From here on every pause is the longest. */
const SETTLED_MS = 750_000

/** How late a step learns of its run's end and what that costs the service, by calculation with the real schedule. */
export function noticing(): Part {
  const results = SCHEDULES.map((schedule) => ({
    name: schedule.name,
    outcomes: LENGTHS_S.map((seconds) => outcomesOf(schedule, seconds)),
    load: loadOf(schedule),
  }))
  const [adaptive = []] = results.map(({ outcomes }) => outcomes)
  return {
    title: 'Noticing the end',
    findings: findings(adaptive, loadOf(ADAPTIVE)),
    details: `By calculation with the real schedule, ${count(RUNS_PER_LENGTH)} runs of each length and responses that take no time. For the delays the lengths
vary by a tenth, so that no lucky phase decides. Below a minute the shortest pause, one second, is what there is to lose.

${table(
  ['Run', 'Requests', 'At most', 'Mean delay', 'Of the run', 'Worst delay', 'Of the run'],
  adaptive.map((one) => [
    lengthText(one.seconds),
    one.meanRequests.toFixed(0),
    String(one.mostRequests),
    seconds(one.meanDelayMs),
    percent(one.meanShare),
    seconds(one.worstDelayMs),
    percent(one.worstShare),
  ]),
)}

Beside fixed intervals: requests, and mean delay.

${table(
  ['Run', ...results.map(({ name }) => name)],
  LENGTHS_S.map((length, index) => [
    lengthText(length),
    ...results.map(({ outcomes }) => {
      const { meanRequests = 0, meanDelayMs = 0 } = outcomes[index] ?? {}
      return `${meanRequests.toFixed(0)}, ${seconds(meanDelayMs)}`
    }),
  ]),
)}

The load of ${count(LOAD_STEPS)} steps that begin in the same instant, with runs of ${lengthText(LOAD_RUN_MS / 1_000)}, in requests a second:

${table(
  [
    'Schedule',
    'Mean',
    'First minute',
    `After ${lengthText(SETTLED_MS / 1_000)}`,
    'Busiest second then',
    'Times the mean',
  ],
  results.map(({ name, load }) => [
    name,
    count(load.mean),
    count(load.firstMinute),
    count(load.settled),
    count(load.busiest),
    (load.busiest / load.settled).toFixed(1),
  ]),
)}`,
  }
}

function findings(adaptive: readonly Outcomes[], load: Load): Finding[] {
  // Below the first length the shortest pause, one second, decides; from the second on the longest, 15 s.
  const short = adaptive.filter((one) => one.seconds < 60)
  const middle = adaptive.filter((one) => one.seconds >= 60 && one.seconds <= 720)
  const long = adaptive.filter((one) => one.seconds > 720)
  const meanShare = Math.max(...middle.map((one) => one.meanShare))
  const worstShare = Math.max(...middle.map((one) => one.worstShare))
  const worstShortMs = Math.max(...short.map((one) => one.worstDelayMs))
  const worstLongMs = Math.max(...long.map((one) => one.worstDelayMs))
  const hour = adaptive.find((one) => one.seconds === 3_600)
  const mostRequests = hour?.mostRequests ?? Number.POSITIVE_INFINITY
  const timesTheMean = load.busiest / load.settled
  return [
    {
      what: 'Mean delay, runs of 1 min to 12 min',
      goal: '≤ 1.1 % of the run',
      result: `${percent(meanShare)} at most`,
      isReached: meanShare <= 0.011,
    },
    {
      what: 'Worst delay, the same runs',
      goal: '≤ 2.3 % of the run',
      result: percent(worstShare),
      isReached: worstShare <= 0.023,
    },
    {
      what: 'Worst delay, shorter runs',
      goal: '≤ 1.2 s',
      result: seconds(worstShortMs),
      isReached: worstShortMs <= 1_200,
    },
    {
      what: 'Worst delay, longer runs',
      goal: '≤ 15 s',
      result: seconds(worstLongMs),
      isReached: worstLongMs <= 15_000,
    },
    {
      what: 'Requests for a run of one hour',
      goal: '< 400 in every case',
      result: `${hour?.meanRequests.toFixed(0)}, ${mostRequests} at most`,
      isReached: mostRequests < 400,
    },
    {
      what: 'Busiest second of 10,000 steps that begin together',
      goal: '≤ 1.3 times the mean',
      result: `${timesTheMean.toFixed(2)} times`,
      isReached: timesTheMean <= 1.3,
    },
  ]
}

interface Outcomes {
  readonly seconds: number
  /** The start request included. */
  readonly meanRequests: number
  readonly mostRequests: number
  readonly meanDelayMs: number
  readonly worstDelayMs: number
  readonly meanShare: number
  readonly worstShare: number
}

function outcomesOf(schedule: Schedule, seconds: number): Outcomes {
  const random = generator(seconds)
  const runs = Array.from({ length: RUNS_PER_LENGTH }, () => {
    const runMs = seconds * 1_000 * (0.9 + random() / 5)
    const pauses = schedule.begin(random)
    let polls = 1
    let atMs = 0
    for (; atMs < runMs; polls++) atMs += pauses(atMs)
    return { requests: 1 + polls, delayMs: atMs - runMs, share: (atMs - runMs) / runMs }
  })
  // Requests are counted for runs of exactly this length.
  const exact = Array.from({ length: RUNS_PER_LENGTH }, () => {
    const pauses = schedule.begin(random)
    let requests = 2
    for (let atMs = 0; atMs < seconds * 1_000; requests++) atMs += pauses(atMs)
    return requests
  })
  return {
    seconds,
    meanRequests: mean(exact),
    mostRequests: Math.max(...exact),
    meanDelayMs: mean(runs.map(({ delayMs }) => delayMs)),
    worstDelayMs: Math.max(...runs.map(({ delayMs }) => delayMs)),
    meanShare: mean(runs.map(({ share }) => share)),
    worstShare: Math.max(...runs.map(({ share }) => share)),
  }
}

/** Requests a second. */
interface Load {
  readonly mean: number
  readonly firstMinute: number
  readonly settled: number
  readonly busiest: number
}

function loadOf(schedule: Schedule): Load {
  const random = generator(LOAD_STEPS)
  const perSecond = new Array<number>(LOAD_RUN_MS / 1_000).fill(0)
  for (let step = 0; step < LOAD_STEPS; step++) {
    const pauses = schedule.begin(random)
    for (let atMs = 0; atMs < LOAD_RUN_MS; atMs += pauses(atMs)) {
      const second = Math.floor(atMs / 1_000)
      perSecond[second] = (perSecond[second] ?? 0) + 1
    }
  }
  const settled = perSecond.slice(SETTLED_MS / 1_000)
  return {
    mean: mean(perSecond),
    firstMinute: mean(perSecond.slice(0, 60)),
    settled: mean(settled),
    busiest: Math.max(...settled),
  }
}

/** Numbers from 0 to 1, the same in every run of the bench (Mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 2 : 0)} %`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function lengthText(lengthS: number): string {
  if (lengthS < 60) return `${lengthS} s`
  return lengthS < 3_600 ? `${lengthS / 60} min` : `${lengthS / 3_600} h`
}
