import { StepAborted } from '../../src/action/abort.ts'
import { runAction } from '../../src/action/run-action.ts'
import type { World } from '../../src/action/world.ts'
import { cleanUp } from '../../src/clean-up-after-main.ts'
import type { Clock } from '../../src/clock.ts'
import { type Handover, lastRecord, latestRecord, parseRecord, type StepRecord } from '../../src/handover/record.ts'
import { RecordNotWritten, StepRecorder } from '../../src/handover/recorder.ts'
import type { AbortCause } from '../../src/outcome/step-outcome.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
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
  /** Main's record, as post read it last. */
  readonly record?: StepRecord | undefined
}

interface MainResult {
  readonly end: 'success' | 'failure' | 'killed' | 'crashed' | 'hanging'
  readonly endedMs: number
  /** Why main had to end, and when. */
  readonly signalled?: { readonly signal: AbortCause; readonly atMs: number } | undefined
  readonly responses: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  /** What post can learn from main's record at the end of main. */
  readonly record?: StepRecord | undefined
  /** When main wanted to write the phase "starting", no disk had space for the state or the file. */
  readonly isStartRefused: boolean
}

/** If main runs this long after the limit of the wait, it hangs. */
const HANGING_AFTER_MS = 3_600_000

/** Simulates one step: main with the runner's signals, and then post. */
export async function simulateStep(plan: SimulationPlan): Promise<SimulationResult> {
  const clock = new FakeClock()
  const service = new ModelService(clock, plan.service)
  const random = randomFrom(plan.seed)
  const messages: string[] = []
  const main = new SimulatedMain(plan, clock, service, random, messages)
  const ended = main.run()
  const { hasPost, postAfterMs, postSignal, container, hasSibling } = plan.runner
  const jobEnd = container === undefined ? [] : [clock.sleep(container.atMs).then(() => undefined)]
  const before = await clock.run(Promise.race([ended, ...jobEnd]))
  const isLeft = container?.end === 'shutdown' && before === undefined
  if (isLeft) {
    // Main finds the folder empty when it next looks. The container stays.
    main.storage.removeAll()
    clock.at(clock.now() + 1_000, () => main.end('RUNNER_TEMP emptied'))
  }
  if (isLeft || !hasPost) return { service, main: await clock.run(ended), messages }

  const isStateLost = container?.isStateLost && before?.end !== 'success'
  const saved = isStateLost ? undefined : parseRecord(main.storage.state ?? '')
  await clock.run(clock.sleep(postAfterMs))
  const begunMs = clock.now()
  const responses: ObservedResponse[] = []
  const controller = new AbortController()
  if (postSignal !== undefined) {
    clock.at(begunMs + postSignal.atMs, () => controller.abort(new StepAborted(postSignal.signal, clock.now())))
  }
  const log: World['log'] = { info: () => {}, warning: (message) => messages.push(render(message)) }
  const open = async () => service.client((response) => responses.push(response))
  // post.ts and findHandovers decide this before anything is loaded.
  const first = saved ?? lastRecord(main.storage.file)
  const ofMain = first === undefined ? [] : [main.found(first)]
  const found = saved === undefined && hasSibling ? [...ofMain, siblingOf(service)] : ofMain
  const isDone = saved?.phase === 'done' || found.length === 0
  if (!isDone) await clock.run(cleanUp(found, { clock, random, signal: controller.signal, log, open }))
  const post = isDone ? undefined : { begunMs, endedMs: clock.now(), responses, record: main.readByPost }
  main.die()
  return { service, main: await clock.run(ended), post, messages }
}

/** A step with the same identity that was killed while it waited. Its file is in the folder of main's file. */
function siblingOf(service: ModelService): Handover {
  const runId = service.startForSibling()
  const record: StepRecord = { pid: 2, startTime: '2', file: 'main-2', phase: 'started', runId, mayCancel: true }
  return {
    hasSameInputs: true,
    readRecord: () => record,
    isMainRunning: () => false,
    canSignalMain: () => true,
    signalMain: () => {},
    removeFile: () => {},
  }
}

/** The state and main's file, in memory. */
class Storage {
  /** The newest entry of the runner's state. */
  state: string | undefined
  /** Main's file. Undefined if it was removed. */
  file: string | undefined
  areRemoved = false
  readonly #clock: FakeClock
  readonly #fullDisks: SimulationPlan['runner']['fullDisks']

  constructor(clock: FakeClock, { fullDisks, fileRemovedAtMs }: SimulationPlan['runner']) {
    this.#clock = clock
    this.#fullDisks = fullDisks
    if (fileRemovedAtMs !== undefined) clock.at(fileRemovedAtMs, () => (this.file = undefined))
  }

  appendToState(line: string): void {
    if (this.#isFull('state')) throw new Error('the disk is full')
    this.state = line
  }

  appendToFile(line: string): void {
    if (this.#isFull('file')) throw new Error('the disk is full')
    if (this.file === undefined) throw new Error('the file was removed')
    this.file += `${line}\n`
  }

  /** The end of the job removes the state and the file. */
  removeAll(): void {
    this.areRemoved = true
    this.state = undefined
    this.file = undefined
  }

  #isFull(where: 'state' | 'file'): boolean {
    const nowMs = this.#clock.now()
    return this.#fullDisks.some(
      (disk) =>
        (disk.place === where || disk.place === 'both') && nowMs >= disk.fromMs && nowMs < disk.fromMs + disk.forMs,
    )
  }
}

const FIRST: StepRecord = { pid: 1, startTime: '1', file: 'main-1', phase: 'nothing started' }

/** Main as a process that can be killed at any moment. After that, it has no effect and gets no response. */
class SimulatedMain {
  readonly storage: Storage
  readByPost: StepRecord | undefined
  #isStartRefused = false
  #isDead = false
  #effects = 0
  #signalled: MainResult['signalled']
  readonly #responses: ObservedResponse[] = []
  readonly #outputs = new Map<string, unknown>()
  readonly #controller = new AbortController()
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
    this.storage = new Storage(clock, plan.runner)
    this.storage.file = `${JSON.stringify(FIRST)}\n`
  }

  async run(): Promise<MainResult> {
    const clock = this.#clock
    const { request, service, runner } = this.#plan
    for (const { signal, atMs } of runner.signals) {
      clock.at(atMs, () => this.end(signal))
      clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), () => this.die())
    }
    if (runner.killAtMs !== undefined) clock.at(runner.killAtMs, () => this.die())
    const step = runAction(
      {
        ...request,
        subject: {
          target: { kind: 'project', id: 'web-shop' },
          ownsRun: !service.isGiven,
          parameters: {},
          labels: [],
        },
        runId: service.isGiven ? service.run.id : undefined,
        runUrlOf: () => undefined,
        reports: { summary: 'always', annotations: true },
      },
      this.#world(),
    )
    const hanging = clock.sleep(request.waitLimitMs + HANGING_AFTER_MS).then(() => 'hanging' as const)
    const exit = this.#whileAlive(step).then(
      ({ success }) => (success ? ('success' as const) : ('failure' as const)),
      (cause) => {
        if (cause instanceof RecordNotWritten) {
          // run-step.ts has these words too.
          this.#outputs.set('conclusion', 'error')
          this.#messages.push(`error: No run was started. ${cause}`)
          this.#isStartRefused = true
          return 'failure' as const
        }
        if (cause !== this.#crash) throw cause
        // process.ts does this too.
        this.#messages.push(`error: The action failed unexpectedly. ${cause}`)
        return 'crashed' as const
      },
    )
    const end = await Promise.race([this.#death.promise, hanging, exit])
    this.die()
    const saved = parseRecord(this.storage.state ?? '')
    return {
      end,
      endedMs: clock.now(),
      signalled: this.#signalled,
      responses: this.#responses,
      outputs: this.#outputs,
      record: saved === undefined ? lastRecord(this.storage.file) : latestRecord(saved, this.storage.file),
      isStartRefused: this.#isStartRefused,
    }
  }

  end(by: AbortCause): void {
    this.#controller.abort(new StepAborted(by, this.#clock.now()))
    this.#signalled ??= { signal: by, atMs: this.#clock.now() }
  }

  die(): void {
    this.#isDead = true
    this.#death.resolve('killed')
  }

  /** @param mayCrash false if main treats every thrown error as a place that cannot be written */
  effect<T>(task: () => T, mayCrash = true): T | undefined {
    this.#effects++
    const { injectedFault } = this.#plan.runner
    if (this.#effects === injectedFault?.beforeEffect && !this.#isDead) {
      if (injectedFault.kind === 'crash' && mayCrash) throw this.#crash
      this.die()
    }
    return this.#isDead ? undefined : task()
  }

  /** The record that post finds. */
  found(first: StepRecord): Handover {
    return {
      hasSameInputs: true,
      readRecord: () => {
        this.readByPost = latestRecord(first, this.storage.file)
        return this.readByPost
      },
      isMainRunning: () => !this.#isDead,
      canSignalMain: () => true,
      signalMain: (signal) => (signal === 'SIGKILL' ? this.die() : this.end(signal)),
      removeFile: () => {
        this.storage.file = undefined
      },
    }
  }

  #world(): World {
    const client = this.#service.client((response) => this.#isDead || this.#responses.push(response))
    const { cancel } = client
    const { storage } = this
    const recorder = new StepRecorder(FIRST, {
      appendToState: (line) => this.effect(() => storage.appendToState(line), false),
      appendToFile: (line) => this.effect(() => storage.appendToFile(line), false),
      emptyFile: () =>
        this.effect(() => {
          if (storage.file !== undefined) storage.file = ''
        }),
    })
    const log: World['log'] = { info: () => this.effect(() => {}), warning: (message) => this.#say('warning', message) }
    recorder.attachLog(log)
    return {
      clock: this.#timed(this.#clock),
      random: this.#random,
      signal: this.#controller.signal,
      service: {
        start: (parameters, options) => this.#request(() => client.start(parameters, options)),
        get: (runId, options) => this.#request(() => client.get(runId, options)),
        ...(cancel && { cancel: (runId, options) => this.#request(() => cancel(runId, options)) }),
      },
      log,
      recorder,
      isJobOver: () => storage.areRemoved,
      setOutput: (name, value) => this.effect(() => this.#outputs.set(name, value)),
      annotate: ({ level, message }) => this.#say(level, message),
      writeGroup: () => this.effect(() => {}),
      writeSummary: (build) => this.effect(() => build(0)),
      writeReportFiles: () => this.effect(() => '/reports'),
      writeComment: async () => {
        await this.#request(() => this.#clock.sleep(this.#plan.commentMs, this.#controller.signal))
        return undefined
      },
    }
  }

  #say(level: string, message: Fragment): void {
    const { container } = this.#plan.runner
    this.effect(() => {
      // In a container, nobody reads main's log after the end of the step.
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

/** Numbers from 0 to 1 by Lehmer's generator. A seed always gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 0x7fff_ffff
    return state / 0x7fff_ffff
  }
}
