import { type AbortCause, StepCancelled } from '../../src/action/abort.ts'
import { runAction } from '../../src/action/run-action.ts'
import type { World } from '../../src/action/world.ts'
import { finishStep } from '../../src/cancel-unfinished-run.ts'
import type { Clock } from '../../src/clock.ts'
import { runState } from '../../src/github/state.ts'
import type { FoundMain, MainRecord, StepFile } from '../../src/github/step-file.ts'
import { type LogLine, render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { ModelService, type ObservedResponse } from './model-service.ts'
import type { SimulationPlan } from './random-plans.ts'

export interface SimulationResult {
  readonly service: ModelService
  readonly main: MainResult
  /** Absent if post found nothing to do, or did not run. */
  readonly post?: PostResult | undefined
  /** The errors and warnings in the log. */
  readonly messages: readonly string[]
}

interface PostResult {
  readonly begunMs: number
  readonly endedMs: number
  readonly responses: readonly ObservedResponse[]
}

interface MainResult {
  readonly end: 'success' | 'failure' | 'killed' | 'crashed' | 'hanging'
  readonly endedMs: number
  /** What told main to end, and when. */
  readonly signalled?: { readonly signal: AbortCause; readonly atMs: number } | undefined
  readonly responses: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  readonly saved: RunnerState
  /** Main has said that nothing is left for post: in the runner's state, or by removing its file. */
  readonly isDone: boolean
  /** What main's file says at the end; absent if it is removed. */
  readonly record?: MainRecord | undefined
}

type RunnerState = Partial<Record<'file' | 'start' | 'run' | 'done', string>>

/** A main that runs for so long after the wait's limit hangs. */
const HANGING_AFTER_MS = 3_600_000

/** Simulates one step: main under a runner's signals, then post. */
export async function simulateStep(plan: SimulationPlan): Promise<SimulationResult> {
  const clock = new FakeClock()
  const service = new ModelService(clock, plan.service)
  const random = randomFrom(plan.seed)
  const messages: string[] = []
  const main = new SimulatedMain(plan, clock, service, random, messages)
  const ended = main.run()
  const { hasPost, postAfterMs, postSignal, container } = plan.runner
  const jobEnd = container === undefined ? [] : [clock.sleep(container.atMs).then(() => undefined)]
  const before = await clock.run(Promise.race([ended, ...jobEnd]))
  const isLeft = container?.end === 'shutdown' && before === undefined
  if (isLeft) {
    // Main finds its folder empty at its next look. The container stays.
    main.file.isEmptied = true
    clock.at(clock.now() + 1_000, () => main.end('job over'))
  }
  if (isLeft || !hasPost) return { service, main: await clock.run(ended), messages }

  const saved: RunnerState = container?.isStateLost && before?.end !== 'success' ? {} : { ...main.saved }
  await clock.run(clock.sleep(postAfterMs))
  const begunMs = clock.now()
  const responses: ObservedResponse[] = []
  const abort = new AbortController()
  if (postSignal !== undefined) {
    clock.at(begunMs + postSignal.atMs, () => abort.abort(new StepCancelled(postSignal.signal, clock.now())))
  }
  const log: World['log'] = { info: () => {}, warning: (message) => messages.push(render(message)) }
  const open = async () => service.client((response) => responses.push(response))
  // As post.ts decides before it loads anything.
  const isFileThere = main.read() !== undefined
  const isDone = saved.done !== undefined || (!isFileThere && saved.run === undefined && saved.file !== undefined)
  if (!isDone) {
    const world = { clock, random, abort: abort.signal, log, open }
    await clock.run(finishStep(isFileThere ? [main] : [], saved, world))
  }
  const post = isDone ? undefined : { begunMs, endedMs: clock.now(), responses }
  main.die()
  return { service, main: await clock.run(ended), post, messages }
}

/** Main's own file, in memory. */
class FakeStepFile implements StepFile {
  readonly name = 'main-1'
  readonly isInRunnerFolder = true
  record: MainRecord | undefined = { pid: 1, startTime: '1', phase: 'nothing-started' }
  isEmptied = false
  isRemovedByMain = false
  readonly #main: SimulatedMain

  constructor(main: SimulatedMain) {
    this.#main = main
  }

  get phase(): MainRecord['phase'] {
    return this.record?.phase ?? 'started'
  }

  isThere(): boolean {
    return this.record !== undefined && !this.isEmptied
  }

  update(version: Parameters<StepFile['update']>[0]): boolean {
    const update = () => {
      if (this.isThere()) this.record = { pid: 1, startTime: '1', ...version }
      return this.isThere()
    }
    return this.#main.effect(update) ?? false
  }

  remove(): void {
    this.#main.effect(() => {
      this.record = undefined
      this.isRemovedByMain = true
    })
  }
}

/** Main as a process that can be killed at any moment: from then on it has no effect and gets no response. */
class SimulatedMain implements FoundMain {
  readonly saved: RunnerState = {}
  readonly file = new FakeStepFile(this)
  #isDead = false
  #effects = 0
  #signalled: MainResult['signalled']
  readonly #responses: ObservedResponse[] = []
  readonly #outputs = new Map<string, unknown>()
  readonly #abort = new AbortController()
  readonly #death = Promise.withResolvers<'killed'>()
  readonly #crash = new Error('a bug in main')
  readonly #plan: SimulationPlan
  readonly #clock: FakeClock
  readonly #service: ModelService
  readonly #random: () => number
  readonly #messages: string[]

  constructor(plan: SimulationPlan, clock: FakeClock, service: ModelService, random: () => number, messages: string[]) {
    this.#plan = plan
    this.#clock = clock
    this.#service = service
    this.#random = random
    this.#messages = messages
  }

  async run(): Promise<MainResult> {
    const clock = this.#clock
    const { request, service, runner } = this.#plan
    for (const { signal, atMs } of runner.signals) {
      clock.at(atMs, () => this.end(signal))
      clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), () => this.die())
    }
    if (runner.killAtMs !== undefined) clock.at(runner.killAtMs, () => this.die())
    this.saved.file = this.file.name
    const step = runAction(
      {
        ...request,
        target: { kind: 'project', projectId: 'web-shop' },
        parameters: {},
        runId: service.isGiven ? service.run.id : undefined,
        labels: [],
        reports: { summary: 'always', annotations: true },
      },
      this.#world(),
    )
    const hanging = clock.sleep(request.waitLimitMs + HANGING_AFTER_MS).then(() => 'hanging' as const)
    const exit = this.#whileAlive(step).then(
      ({ success }) => (success ? ('success' as const) : ('failure' as const)),
      (cause) => {
        if (cause !== this.#crash) throw cause
        // As process.ts has it.
        this.#messages.push(`error: The action failed unexpectedly. ${cause}`)
        return 'crashed' as const
      },
    )
    const end = await Promise.race([this.#death.promise, hanging, exit])
    // As main.ts does at its exit.
    if (end !== 'killed' && this.file.phase === 'nothing-started') this.file.record = undefined
    this.die()
    return {
      end,
      endedMs: clock.now(),
      signalled: this.#signalled,
      responses: this.#responses,
      outputs: this.#outputs,
      saved: this.saved,
      isDone: this.saved.done !== undefined || this.file.isRemovedByMain,
      record: this.file.record,
    }
  }

  end(by: AbortCause): void {
    this.#abort.abort(new StepCancelled(by, this.#clock.now()))
    this.#signalled ??= { signal: by, atMs: this.#clock.now() }
  }

  die(): void {
    this.#isDead = true
    this.#death.resolve('killed')
  }

  effect<T>(task: () => T): T | undefined {
    this.#effects++
    const { injectedFault } = this.#plan.runner
    if (this.#effects === injectedFault?.beforeEffect && !this.#isDead) {
      if (injectedFault.kind === 'crash') throw this.#crash
      this.die()
    }
    return this.#isDead ? undefined : task()
  }

  // What post finds of it.

  read(): MainRecord | undefined {
    return this.file.isThere() ? this.file.record : undefined
  }

  removeFile(): void {
    this.file.record = undefined
  }

  isAlive(): boolean {
    return !this.#isDead
  }

  signal(_: MainRecord, signal: 'SIGHUP' | 'SIGKILL'): void {
    if (signal === 'SIGKILL') this.die()
    else this.end(signal)
  }

  #world(): World {
    const client = this.#service.client((response) => this.#isDead || this.#responses.push(response))
    const { cancel } = client
    const save = (name: keyof RunnerState, value: string) =>
      this.effect(() => {
        this.saved[name] = value
      })
    const endWithJob = () => this.end('job over')
    const mainState = { file: this.file, save, isJobOver: () => this.file.isEmptied, endWithJob }
    return {
      clock: this.#timed(this.#clock),
      random: this.#random,
      abort: this.#abort.signal,
      service: {
        start: (parameters, options) => this.#request(() => client.start(parameters, options)),
        get: (runId, options) => this.#request(() => client.get(runId, options)),
        ...(cancel && { cancel: (runId, options) => this.#request(() => cancel(runId, options)) }),
      },
      log: { info: () => this.effect(() => {}), warning: (message) => this.#say('warning', message) },
      state: runState(mainState, (task) => task()),
      setOutput: (name, value) => this.effect(() => this.#outputs.set(name, value)),
      annotate: ({ level, message }) => this.#say(level, message),
      writeSummary: (build) => this.effect(() => build(0)),
      writeReportFiles: () => this.effect(() => '/reports'),
      comment: async () => {
        await this.#request(() => this.#clock.sleep(this.#plan.commentMs, this.#abort.signal))
        return undefined
      },
    }
  }

  #say(level: string, message: LogLine): void {
    const { container } = this.#plan.runner
    this.effect(() => {
      // In a container nobody reads main's log after the end of its step.
      const isHeard = container === undefined || this.#clock.now() < container.atMs
      if (isHeard) this.#messages.push(`${level}: ${render(message)}`)
    })
  }

  #request<T>(task: () => Promise<T>): Promise<T> {
    const given = this.effect(task)
    return given === undefined ? new Promise(() => {}) : this.#whileAlive(given)
  }

  #timed(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      epochMs: () => clock.epochMs(),
      sleep: (ms, signal) => this.#whileAlive(clock.sleep(ms, signal)),
      timeout: (ms) => clock.timeout(ms),
    }
  }

  #whileAlive<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#isDead || resolve(value),
        (error) => this.#isDead || reject(error),
      )
    })
  }
}

/** Numbers from 0 to 1, the same for the same seed (Lehmer's generator). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 0x7fff_ffff
    return state / 0x7fff_ffff
  }
}
