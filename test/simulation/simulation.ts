import { type AbortCause, StepCancelled } from '../../src/action/abort.ts'
import { runAction, type StepRequest } from '../../src/action/run-action.ts'
import type { World } from '../../src/action/world.ts'
import { finishStep, type SavedState } from '../../src/cancel-unfinished-run.ts'
import type { Clock } from '../../src/clock.ts'
import { runState } from '../../src/github/state.ts'
import type { FoundMain, MainRecord, StepFile } from '../../src/github/step-file.ts'
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
  /** The job runs in a container: its end reaches no main, and post runs beside it. */
  readonly container?: ContainerPlan | undefined
}

export interface ContainerPlan {
  /** The job is cancelled, and post runs; or the runner shuts down, and there is no post. */
  readonly end: 'cancel' | 'shutdown'
  readonly atMs: number
  /** The runner's state of a step that did not succeed is lost. */
  readonly isStateLost: boolean
}

export interface PlannedSignal {
  readonly signal: 'SIGINT' | 'SIGTERM'
  readonly atMs: number
}

/** What told main to end, and when. */
export interface MainSignal {
  readonly signal: AbortCause
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
  readonly signalled?: MainSignal | undefined
  readonly responses: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  readonly saved: Readonly<RunnerState>
  /** What main's file says at the end; absent if it is removed. */
  readonly record?: MainRecord | undefined
}

type RunnerState = Partial<Record<'file' | 'start' | 'run' | 'done', string>>

/** A main that has begun. */
interface LivingMain {
  readonly result: Promise<MainResult>
  readonly saved: RunnerState
  readonly file: FakeStepFile
  readonly found: FoundMain
  end(by: AbortCause): void
  die(): void
}

/** A main that runs for so long after the wait's limit hangs. */
const HANGING_AFTER_MS = 3_600_000

/** Simulates one step: main under a runner's signals, then post. */
export async function simulateStep(plan: SimulationPlan): Promise<SimulationResult> {
  const clock = new FakeClock()
  const service = new ModelService(clock, plan.service)
  const random = randomFrom(plan.seed)
  const messages: string[] = []
  const main = startMain(plan, clock, service, random, messages)
  const { postAfterMs, postSignal, container } = plan.runner
  const ended = main.result.then(({ end }) => end)
  const before = container === undefined ? ended : Promise.race([ended, clock.sleep(container.atMs)])
  const end = await clock.run(before)
  if (container?.end === 'shutdown' && end === undefined) {
    // Main finds its folder empty at its next look. The container stays.
    main.file.isEmptied = true
    clock.at(clock.now() + 1_000, () => main.end('job over'))
    return { service, main: await clock.run(main.result), messages }
  }
  if (postAfterMs === undefined) return { service, main: await clock.run(main.result), messages }
  const saved: RunnerState = container?.isStateLost && end !== 'success' ? {} : { ...main.saved }
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
  const open = async () => client
  const task = simulatePost(main, saved, { clock, random, abort: abort.signal, log, open })
  if (task !== undefined) await clock.run(task)
  const endedMs = clock.now()
  main.die()
  const result = await clock.run(main.result)
  return { service, main: result, post: task && { begunMs, endedMs, responses }, messages }
}

/** Main's own file, in memory. */
class FakeStepFile implements StepFile {
  readonly name = 'main-1'
  readonly isInRunnerFolder = true
  record: MainRecord | undefined = { pid: 1, startTime: '1', phase: 'nothing-started' }
  isEmptied = false

  get phase(): MainRecord['phase'] {
    return this.record?.phase ?? 'started'
  }

  update(version: Parameters<StepFile['update']>[0]): boolean {
    if (this.isThere()) this.record = { pid: 1, startTime: '1', ...version }
    return this.isThere()
  }

  isThere(): boolean {
    return this.record !== undefined && !this.isEmptied
  }

  remove(): void {
    this.record = undefined
  }
}

function startMain(
  plan: SimulationPlan,
  clock: FakeClock,
  service: ModelService,
  random: () => number,
  messages: string[],
): LivingMain {
  const responses: ObservedResponse[] = []
  const outputs = new Map<string, unknown>()
  const saved: RunnerState = {}
  const abort = new AbortController()
  const process = new KillableProcess(plan.runner.injectedFault)
  let signalled: MainResult['signalled']
  let hasEnded = false
  const { container } = plan.runner
  // In a container nobody reads main's log after the end of its step.
  const isHeard = () => container === undefined || clock.now() < container.atMs

  const end = (by: AbortCause) => {
    abort.abort(new StepCancelled(by, clock.now()))
    signalled ??= { signal: by, atMs: clock.now() }
  }
  for (const { signal, atMs } of plan.runner.signals) {
    clock.at(atMs, () => end(signal))
    clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), process.die)
  }
  if (plan.runner.killAtMs !== undefined) clock.at(plan.runner.killAtMs, process.die)

  const file = new FakeStepFile()
  const watched: StepFile = {
    ...file,
    get phase() {
      return file.phase
    },
    isThere: () => file.isThere(),
    update: (version) => process.effect(() => file.update(version)) ?? false,
    remove: () => process.effect(() => file.remove()),
  }
  const save = (name: keyof RunnerState, value: string) =>
    process.effect(() => {
      saved[name] = value
    })
  saved.file = file.name
  const mainState = { file: watched, save, isJobOver: () => file.isEmptied, endWithJob: () => end('job over') }

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
      warning: (message) => process.effect(() => isHeard() && messages.push(render(message))),
    },
    state: runState(mainState, (task) => task()),
    setOutput: (name, value) => process.effect(() => outputs.set(name, value)),
    annotate: ({ level, message }) => process.effect(() => isHeard() && messages.push(`${level}: ${render(message)}`)),
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
  const ended = Promise.race([
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
  const result = ended.then((end): MainResult => {
    hasEnded = true
    // As main.ts does at its exit.
    if (end !== 'killed' && file.record?.phase === 'nothing-started') file.remove()
    process.die()
    return { end, endedMs: clock.now(), signalled, responses, outputs, saved, record: file.record }
  })
  const found: FoundMain = {
    read: () => (file.isThere() ? file.record : undefined),
    removeFile: () => file.remove(),
    isAlive: () => !hasEnded && !process.isDead,
    signal: (_, signal) => (signal === 'SIGKILL' ? process.die() : end(signal)),
  }
  return { result, saved, file, found, end, die: process.die }
}

/** Runs post's own code with the state that it finds, over the same service. */
function simulatePost(
  main: LivingMain,
  { done, ...saved }: RunnerState,
  world: Parameters<typeof finishStep>[2],
): Promise<void> | undefined {
  // As post.ts decides before it loads anything.
  const isFileThere = main.found.read() !== undefined
  if (done !== undefined || (!isFileThere && saved.run === undefined && saved.file !== undefined)) return undefined
  const state: SavedState = saved
  return finishStep(isFileThere ? [main.found] : [], state, world)
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
