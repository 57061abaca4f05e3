import { StepCancelled } from '../../src/action/abort.ts'
import { runAction, type StepRequest } from '../../src/action/run-action.ts'
import type { World } from '../../src/action/world.ts'
import { cancelSavedRun } from '../../src/cancel-leftover-run.ts'
import type { Clock } from '../../src/clock.ts'
import { render } from '../../src/report/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { ModelService, type ObservedResponse, type ServicePlan } from './model-service.ts'

/** What the runner, and fate, do to main. */
export interface RunnerPlan {
  /** SIGINT: SIGTERM follows after 7.5 s and SIGKILL 2.5 s later. SIGTERM: SIGKILL follows after 2.5 s. */
  readonly signals: readonly { readonly signal: 'SIGINT' | 'SIGTERM'; readonly atMs: number }[]
  readonly killAtMs?: number
  /** Main dies, or meets a fault of its own, right before this effect of its on the world; the first is 1. */
  readonly mishap?: { readonly kind: 'kill' | 'crash'; readonly beforeEffect: number }
  /** Undefined: the runner itself shuts down, and there is no post. */
  readonly postAfterMs?: number
}

export interface LifePlan {
  readonly request: Pick<StepRequest, 'wait' | 'waitLimitMs' | 'cancelOnAbort' | 'passWithNoTests'> & {
    readonly pollIntervalMs?: number
  }
  readonly service: ServicePlan
  readonly runner: RunnerPlan
  readonly commentMs: number
  readonly chance: number
}

export interface LifeStory {
  readonly service: ModelService
  readonly main: MainStory
  /** Absent where post found nothing to do, or did not run. */
  readonly post?: { readonly tookMs: number; readonly heard: readonly ObservedResponse[] }
  /** What a person is shown in the log as an error or a warning. */
  readonly alarms: readonly string[]
}

export interface MainStory {
  readonly end: 'green' | 'red' | 'killed' | 'crashed' | 'hanging'
  readonly endedMs: number
  readonly signalled?: { readonly signal: NodeJS.Signals; readonly atMs: number; readonly reason: StepCancelled }
  readonly heard: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  readonly saved: Readonly<SavedState>
}

interface SavedState {
  start?: true
  run?: string
  done?: true
}

/** So long after the wait's limit a main that has not ended never will. */
const HANGING_AFTER_MS = 3_600_000

/** Lives one life of a step: main under a runner's signals, then post; and tells what became of everything. */
export async function liveLife(plan: LifePlan): Promise<LifeStory> {
  const clock = new FakeClock()
  const service = new ModelService(clock, plan.service)
  const random = chanceFrom(plan.chance)
  const alarms: string[] = []
  const main = await clock.run(liveMain(plan, clock, service, random, alarms))
  const { postAfterMs } = plan.runner
  if (postAfterMs === undefined) return { service, main, alarms }
  await clock.run(clock.sleep(postAfterMs))
  const begunMs = clock.now()
  const heard: ObservedResponse[] = []
  const task = runPost(
    main.saved,
    service.client((word) => heard.push(word)),
    clock,
    random,
    alarms,
  )
  if (task === undefined) return { service, main, alarms }
  await clock.run(task)
  return { service, main, post: { tookMs: clock.now() - begunMs, heard }, alarms }
}

async function liveMain(
  plan: LifePlan,
  clock: FakeClock,
  service: ModelService,
  random: () => number,
  alarms: string[],
): Promise<MainStory> {
  const heard: ObservedResponse[] = []
  const outputs = new Map<string, unknown>()
  const saved: SavedState = {}
  const abort = new AbortController()
  const life = new KillableProcess(plan.runner.mishap)
  let signalled: MainStory['signalled']

  for (const { signal, atMs } of plan.runner.signals) {
    clock.at(atMs, () => {
      const reason = new StepCancelled(signal, clock.now())
      abort.abort(reason)
      signalled ??= { signal, atMs: clock.now(), reason }
    })
    clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), life.die)
  }
  if (plan.runner.killAtMs !== undefined) clock.at(plan.runner.killAtMs, life.die)

  const client = service.client((word) => life.isDead || heard.push(word))
  const { cancel } = client
  const world: World = {
    clock: life.timed(clock),
    random,
    abort: abort.signal,
    service: {
      start: (parameters, options) => life.request(() => client.start(parameters, options)),
      get: (runId, options) => life.request(() => client.get(runId, options)),
      ...(cancel !== undefined && { cancel: (runId, options) => life.request(() => cancel(runId, options)) }),
    },
    log: {
      info: () => life.effect(() => {}),
      warning: (message) => life.effect(() => alarms.push(render(message))),
    },
    state: {
      startAttempted: () =>
        life.effect(() => {
          saved.start = true
        }),
      runStarted: (runId) =>
        life.effect(() => {
          saved.run = JSON.stringify(runId)
        }),
      done: () =>
        life.effect(() => {
          saved.done = true
        }),
    },
    setOutput: (name, value) => life.effect(() => outputs.set(name, value)),
    annotate: ({ level, message }) => life.effect(() => alarms.push(`${level}: ${render(message)}`)),
    writeSummary: (render) => life.effect(() => render(0)),
    writeReportFiles: () => life.effect(() => '/reports'),
    comment: async () => {
      await life.request(() => clock.sleep(plan.commentMs, abort.signal))
      return undefined
    },
  }
  const { request } = plan
  const step = runAction(
    {
      target: { kind: 'project', projectId: 'web-shop' },
      parameters: {},
      ...(plan.service.isGiven ? { runId: plan.service.run.id } : {}),
      ...request,
      variant: [],
      reports: { summary: 'always', annotations: true },
    },
    world,
  )
  const end = await Promise.race([
    life.death,
    clock.sleep(plan.request.waitLimitMs + HANGING_AFTER_MS).then(() => 'hanging' as const),
    life.whileAlive(step).then(
      ({ success }) => (success ? ('green' as const) : ('red' as const)),
      (cause) => {
        if (cause !== life.fault) throw cause
        // As process-exit.ts has it.
        alarms.push(`error: The action failed unexpectedly. ${cause}`)
        return 'crashed' as const
      },
    ),
  ])
  life.die()
  return { end, endedMs: clock.now(), ...(signalled && { signalled }), heard, outputs, saved }
}

/** What post does with the saved state: its own code, over the same service. */
function runPost(
  saved: SavedState,
  service: ReturnType<ModelService['client']>,
  clock: Clock,
  random: () => number,
  alarms: string[],
): Promise<void> | undefined {
  const { start, run, done } = saved
  // As post.ts decides before it loads anything.
  if (done || (run === undefined && !start)) return undefined
  const abort = new AbortController().signal
  const log: World['log'] = { info: () => {}, warning: (message) => alarms.push(render(message)) }
  return cancelSavedRun(run, async () => service, { clock, random, abort, log })
}

/** A process that can be killed at any moment: from then on it has no effect, and nothing comes back to it. */
class KillableProcess {
  readonly death: Promise<'killed'>
  readonly die: () => void
  readonly fault = new Error('a fault of its own')
  readonly #mishap: RunnerPlan['mishap']
  isDead = false
  #effects = 0

  constructor(mishap: RunnerPlan['mishap']) {
    this.#mishap = mishap
    const { promise, resolve } = Promise.withResolvers<'killed'>()
    this.death = promise
    this.die = () => {
      this.isDead = true
      resolve('killed')
    }
  }

  effect<T>(task: () => T): T | undefined {
    this.#effects++
    if (this.#effects === this.#mishap?.beforeEffect && !this.isDead) {
      if (this.#mishap.kind === 'crash') throw this.fault
      this.die()
    }
    return this.isDead ? undefined : task()
  }

  request<T>(task: () => Promise<T>): Promise<T> {
    const given = this.effect(task)
    return given === undefined ? new Promise(() => {}) : this.whileAlive(given)
  }

  timed(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      epochMs: () => clock.epochMs(),
      sleep: (ms, signal) => this.whileAlive(clock.sleep(ms, signal)),
      timeout: (ms) => clock.timeout(ms),
    }
  }

  whileAlive<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.isDead || resolve(value),
        (error) => this.isDead || reject(error),
      )
    })
  }
}

/** A small generator of numbers from 0 to 1 (mulberry32), so that a life can be lived again. */
function chanceFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
