import { StepAborted } from '../../src/action/abort.ts'
import { cleanUpAfterMain } from '../../src/action/clean-up.ts'
import { performStep } from '../../src/action/step.ts'
import type { World } from '../../src/action/world.ts'
import type { Clock } from '../../src/clock.ts'
import { lastRecord, type MainFile, type MainRecord } from '../../src/handover/main-file.ts'
import { RecordNotWritten, StepRecorder } from '../../src/handover/recorder.ts'
import type { AbortCause } from '../../src/model/outcome.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryFile } from '../support/memory-file.ts'
import { ModelService, type ObservedResponse, RUN_ID } from './model-service.ts'
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
  /** What post read in main's file. Undefined if the file was gone before. */
  readonly record?: MainRecord | undefined
}

interface MainResult {
  readonly end: 'success' | 'failure' | 'killed' | 'crashed' | 'hanging'
  readonly endedMs: number
  /** Why main had to end, and when. */
  readonly signalled?: { readonly cause: AbortCause; readonly atMs: number } | undefined
  readonly responses: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  /** The last line of main's file at the end of main. Undefined if the file was removed. */
  readonly record?: MainRecord | undefined
  /** Main could not write the phase "starting". */
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
  const { hasPost, postAfterMs, postSignal, container } = plan.runner
  const jobEnd = container === undefined ? [] : [clock.sleep(container.atMs).then(() => undefined)]
  const before = await clock.run(Promise.race([ended, ...jobEnd]))
  const isLeft = container?.end === 'shutdown' && before === undefined
  // Main finds the folder empty when it next looks. The container stays.
  if (isLeft) main.file.remove()
  if (isLeft || !hasPost) return { service, main: await clock.run(ended), messages }

  await clock.run(clock.sleep(postAfterMs))
  const begunMs = clock.now()
  const responses: ObservedResponse[] = []
  const controller = new AbortController()
  if (postSignal !== undefined) {
    clock.at(begunMs + postSignal.atMs, () => controller.abort(new StepAborted('signal', clock.now())))
  }
  const log: World['log'] = { info: () => {}, warning: (message) => messages.push(render(message)) }
  const open = async () => service.client((response) => responses.push(response))
  // findMainFiles decides this before anything is loaded.
  const files: readonly MainFile[] = main.file.isGone() ? [] : [main.file]
  let record: MainRecord | undefined
  const read = main.file.read.bind(main.file)
  main.file.read = () => {
    record = read()
    return record
  }
  const world = { clock, random, signal: controller.signal, log, open, hasSameInputs: () => true }
  if (files.length > 0) await clock.run(cleanUpAfterMain(files, world))
  const post = files.length === 0 ? undefined : { begunMs, endedMs: clock.now(), responses, record }
  // The container is removed, or the job is over.
  main.die()
  return { service, main: await clock.run(ended), post, messages }
}

/** Main looks for the request to stop and for its file at multiples of this time. */
const LOOK_MS = 250

/** Main as a process that can be killed at any moment. After that, it has no effect and gets no response. */
class SimulatedMain {
  readonly file = new MemoryFile({ phase: 'nothing started' })
  #recorder: StepRecorder | undefined
  #isStartRefused = false
  #isDead = false
  #effects = 0
  #signalled: MainResult['signalled']
  readonly #responses: ObservedResponse[] = []
  readonly #outputs = new Map<string, unknown>()
  readonly #controller = new AbortController()
  readonly #death = Promise.withResolvers<'killed'>()
  readonly #crashInTimer = Promise.withResolvers<'crashed'>()
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
    const { fileRemovedAtMs, stopByOtherAtMs, fullDisks } = plan.runner
    this.file.isDiskFull = () =>
      fullDisks.some(({ fromMs, forMs }) => clock.now() >= fromMs && clock.now() < fromMs + forMs)
    this.file.onNews = () => clock.at((Math.floor(clock.now() / LOOK_MS) + 1) * LOOK_MS, () => this.#look())
    if (fileRemovedAtMs !== undefined) clock.at(fileRemovedAtMs, () => this.file.remove())
    if (stopByOtherAtMs !== undefined) clock.at(stopByOtherAtMs, () => this.file.askToStop())
  }

  async run(): Promise<MainResult> {
    const clock = this.#clock
    const { request, service, runner } = this.#plan
    for (const { signal, atMs } of runner.signals) {
      clock.at(atMs, () => this.end('signal'))
      clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), () => this.die())
    }
    if (runner.killAtMs !== undefined) clock.at(runner.killAtMs, () => this.die())
    const step = performStep(
      {
        ...request,
        subject: {
          target: { kind: 'project', id: 'web-shop' },
          ownsRun: !service.isGiven,
          parameters: {},
          labels: [],
        },
        runId: service.isGiven ? RUN_ID : undefined,
        runUrlOf: () => undefined,
        showOutput: false,
        reports: { summary: 'always', annotations: true },
      },
      this.#world(),
    )
    const hanging = clock.sleep(request.waitLimitMs + HANGING_AFTER_MS).then(() => 'hanging' as const)
    const exit = this.#whileAlive(step).then(
      ({ success }) => (success ? ('success' as const) : ('failure' as const)),
      (cause) => {
        if (cause instanceof RecordNotWritten) {
          // main-step.ts has these words too.
          this.#outputs.set('conclusion', 'error')
          this.#messages.push(`error: No run was started. ${cause}`)
          this.#isStartRefused = true
          this.#recorder?.done()
          return 'failure' as const
        }
        return this.#endByCrash(cause)
      },
    )
    const end = await Promise.race([this.#death.promise, this.#crashInTimer.promise, hanging, exit])
    this.die()
    return {
      end,
      endedMs: clock.now(),
      signalled: this.#signalled,
      responses: this.#responses,
      outputs: this.#outputs,
      record: lastRecord(this.file.text ?? ''),
      isStartRefused: this.#isStartRefused,
    }
  }

  end(cause: AbortCause): void {
    this.#whenRunning(() => {
      if (this.#isDead) return
      this.#controller.abort(new StepAborted(cause, this.#clock.now()))
      this.#signalled ??= { cause, atMs: this.#clock.now() }
    })
  }

  /** What the timer in main.ts does. */
  #look(): void {
    this.#whenRunning(() => {
      try {
        if (!this.#isDead && this.#recorder?.mustStop()) this.end('job ended')
      } catch (cause) {
        this.#crashInTimer.resolve(this.#endByCrash(cause))
      }
    })
  }

  /** process.ts does this too. */
  #endByCrash(cause: unknown): 'crashed' {
    if (cause !== this.#crash) throw cause
    this.#messages.push(`error: The action failed unexpectedly. ${cause}`)
    return 'crashed'
  }

  /** Does it at once, or when main is no longer blocked. */
  #whenRunning(task: () => void): void {
    const nowMs = this.#clock.now()
    const { atMs, forMs } = this.#plan.runner.blocked ?? { atMs: 0, forMs: 0 }
    if (nowMs >= atMs && nowMs < atMs + forMs) this.#clock.at(atMs + forMs, task)
    else task()
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

  #world(): World {
    const client = this.#service.client((response) => this.#isDead || this.#responses.push(response))
    const { cancel } = client
    const { file } = this
    // The recorder catches what these two throw. So a crash in them would be none.
    const append = (record: MainRecord) => this.effect(() => file.append(record), false)
    const remove = () => this.effect(() => file.remove(), false)
    const isGone = () => file.isGone()
    const answerStop = () => file.answerStop()
    const ofMain: MainFile = Object.assign(new MemoryFile(), { append, remove, isGone, answerStop })
    const recorder = new StepRecorder(ofMain)
    this.#recorder = recorder
    const log: World['log'] = { info: () => this.effect(() => {}), warning: (message) => this.#say('warning', message) }
    recorder.attachLog(log)
    return {
      clock: this.#timed(this.#clock),
      random: this.#random,
      signal: this.#controller.signal,
      service: {
        failureLimitMs: client.failureLimitMs,
        start: (parameters, options) => this.#request(() => client.start(parameters, options)),
        get: (runId, options) => this.#request(() => client.get(runId, options)),
        ...(cancel && { cancel: (runId, options) => this.#request(() => cancel(runId, options)) }),
        redact: client.redact,
      },
      log,
      recorder,
      setOutput: (name, value) => this.effect(() => this.#outputs.set(name, value)),
      annotate: ({ level, message }) => this.#say(level, message),
      mask: () => this.effect(() => {}),
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
      // In a container, nobody reads main's log after the end of the step. Until main knows this, main counts as heard.
      const isHeard = container === undefined || this.#clock.now() < container.atMs || this.#signalled === undefined
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
        (value) => this.#whenRunning(() => this.#isDead || resolve(value)),
        (error) => this.#whenRunning(() => this.#isDead || reject(error)),
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
