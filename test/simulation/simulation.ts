import { StepCancelled } from '../../src/action/abort.ts'
import { runAction, type StepRequest } from '../../src/action/run-action.ts'
import type { World } from '../../src/action/world.ts'
import { cancelSavedRun } from '../../src/cancel-unfinished-run.ts'
import type { Clock } from '../../src/clock.ts'
import { render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { ModelService, type ObservedResponse, type ServicePlan } from './model-service.ts'

/** What the runner does to the step's processes, and what goes wrong in main. */
export interface RunnerPlan {
  /** SIGINT: SIGTERM follows after 7.5 s and SIGKILL 2.5 s later. SIGTERM: SIGKILL follows after 2.5 s. */
  readonly signals: readonly PlannedSignal[]
  readonly killAtMs?: number | undefined
  /** Main is killed, or throws, right before this effect on the world; the first is 1. */
  readonly injectedFault?: { readonly kind: 'kill' | 'crash'; readonly beforeEffect: number } | undefined
  /** Undefined: the runner itself shuts down, and there is no post. */
  readonly postAfterMs?: number | undefined
  /** Since the start of post. */
  readonly postSignal?: PlannedSignal | undefined
}

export interface PlannedSignal {
  readonly signal: 'SIGINT' | 'SIGTERM'
  readonly atMs: number
}

export interface SimulationPlan {
  readonly request: Pick<StepRequest, 'wait' | 'waitLimitMs' | 'cancelOnAbort' | 'passWithNoTests'> & {
    readonly pollIntervalMs?: number | undefined
    readonly queueLimitMs?: number | undefined
  }
  readonly service: ServicePlan
  readonly runner: RunnerPlan
  readonly commentMs: number
  readonly seed: number
}

export interface SimulationResult {
  readonly service: ModelService
  readonly main: MainResult
  /** Absent if post found nothing to do, or did not run. */
  readonly post?: PostResult | undefined
  /** The errors and warnings in the log. */
  readonly messages: readonly string[]
}

export interface PostResult {
  readonly begunMs: number
  readonly endedMs: number
  readonly responses: readonly ObservedResponse[]
}

export interface MainResult {
  readonly end: 'success' | 'failure' | 'killed' | 'crashed' | 'hanging'
  readonly endedMs: number
  readonly signalled?: PlannedSignal | undefined
  readonly responses: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  readonly saved: Readonly<SavedState>
}

interface SavedState {
  start?: true
  run?: string
  done?: true
}

/** A main that runs for so long after the wait's limit hangs. */
const HANGING_AFTER_MS = 3_600_000

/** Simulates one step: main under a runner's signals, then post. */
export async function simulateStep(plan: SimulationPlan): Promise<SimulationResult> {
  const clock = new FakeClock()
  const service = new ModelService(clock, plan.service)
  const random = randomFrom(plan.seed)
  const messages: string[] = []
  const main = await clock.run(simulateMain(plan, clock, service, random, messages))
  const { postAfterMs, postSignal } = plan.runner
  if (postAfterMs === undefined) return { service, main, messages }
  await clock.run(clock.sleep(postAfterMs))
  const begunMs = clock.now()
  const responses: ObservedResponse[] = []
  const abort = new AbortController()
  if (postSignal !== undefined) {
    const { signal, atMs } = postSignal
    clock.at(begunMs + atMs, () => abort.abort(new StepCancelled(signal, clock.now())))
  }
  const client = service.client((response) => responses.push(response))
  const log: World['log'] = { info: () => {}, warning: (message) => messages.push(render(message)) }
  const task = simulatePost(main.saved, plan.request.cancelOnAbort, client, { clock, random, abort: abort.signal, log })
  if (task === undefined) return { service, main, messages }
  await clock.run(task)
  return { service, main, post: { begunMs, endedMs: clock.now(), responses }, messages }
}

async function simulateMain(
  plan: SimulationPlan,
  clock: FakeClock,
  service: ModelService,
  random: () => number,
  messages: string[],
): Promise<MainResult> {
  const responses: ObservedResponse[] = []
  const outputs = new Map<string, unknown>()
  const saved: SavedState = {}
  const abort = new AbortController()
  const process = new KillableProcess(plan.runner.injectedFault)
  let signalled: MainResult['signalled']

  for (const { signal, atMs } of plan.runner.signals) {
    clock.at(atMs, () => {
      abort.abort(new StepCancelled(signal, clock.now()))
      signalled ??= { signal, atMs: clock.now() }
    })
    clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), process.die)
  }
  if (plan.runner.killAtMs !== undefined) clock.at(plan.runner.killAtMs, process.die)

  const client = service.client((response) => process.isDead || responses.push(response))
  const { cancel } = client
  const world: World = {
    clock: process.timed(clock),
    random,
    abort: abort.signal,
    service: {
      start: (parameters, options) => process.request(() => client.start(parameters, options)),
      get: (runId, options) => process.request(() => client.get(runId, options)),
      ...(cancel !== undefined && { cancel: (runId, options) => process.request(() => cancel(runId, options)) }),
    },
    log: {
      info: () => process.effect(() => {}),
      warning: (message) => process.effect(() => messages.push(render(message))),
    },
    state: {
      startAttempted: () =>
        process.effect(() => {
          saved.start = true
        }),
      runStarted: (runId) =>
        process.effect(() => {
          saved.run = JSON.stringify(runId)
        }),
      done: () =>
        process.effect(() => {
          saved.done = true
        }),
    },
    setOutput: (name, value) => process.effect(() => outputs.set(name, value)),
    annotate: ({ level, message }) => process.effect(() => messages.push(`${level}: ${render(message)}`)),
    writeSummary: (render) => process.effect(() => render(0)),
    writeReportFiles: () => process.effect(() => '/reports'),
    comment: async () => {
      await process.request(() => clock.sleep(plan.commentMs, abort.signal))
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
      labels: [],
      reports: { summary: 'always', annotations: true },
    },
    world,
  )
  const end = await Promise.race([
    process.death,
    clock.sleep(plan.request.waitLimitMs + HANGING_AFTER_MS).then(() => 'hanging' as const),
    process.whileAlive(step).then(
      ({ success }) => (success ? ('success' as const) : ('failure' as const)),
      (cause) => {
        if (cause !== process.crash) throw cause
        // As process.ts has it.
        messages.push(`error: The action failed unexpectedly. ${cause}`)
        return 'crashed' as const
      },
    ),
  ])
  process.die()
  return { end, endedMs: clock.now(), signalled, responses, outputs, saved }
}

/** Runs post's own code with the saved state, over the same service. */
function simulatePost(
  saved: SavedState,
  cancelOnAbort: boolean,
  service: World['service'],
  world: Parameters<typeof cancelSavedRun>[2],
): Promise<void> | undefined {
  const { start, run, done } = saved
  // As post.ts decides before it loads anything.
  if (done || (run === undefined && !start)) return undefined
  if (run !== undefined && !cancelOnAbort) return undefined
  return cancelSavedRun(run, async () => service, world)
}

/** A process that can be killed at any moment: from then on it has no effect and gets no response. */
class KillableProcess {
  readonly death: Promise<'killed'>
  readonly die: () => void
  readonly crash = new Error('a bug in main')
  readonly #injectedFault: RunnerPlan['injectedFault']
  isDead = false
  #effects = 0

  constructor(injectedFault: RunnerPlan['injectedFault']) {
    this.#injectedFault = injectedFault
    const { promise, resolve } = Promise.withResolvers<'killed'>()
    this.death = promise
    this.die = () => {
      this.isDead = true
      resolve('killed')
    }
  }

  effect<T>(task: () => T): T | undefined {
    this.#effects++
    if (this.#effects === this.#injectedFault?.beforeEffect && !this.isDead) {
      if (this.#injectedFault.kind === 'crash') throw this.crash
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

/** A small generator of numbers from 0 to 1 (mulberry32), so that a simulation can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
