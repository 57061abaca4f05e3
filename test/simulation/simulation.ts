import { StepAborted } from '../../src/action/abort.ts'
import { cleanUpAfterMain } from '../../src/action/clean-up.ts'
import { performStep } from '../../src/action/step.ts'
import type { World } from '../../src/action/world.ts'
import { type LeftToDo, lastLine } from '../../src/handover/main-file.ts'
import { MainFileNotWritten, MainFileWriter } from '../../src/handover/main-file-writer.ts'
import type { AbortCause } from '../../src/model/outcome.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryFile } from '../support/memory-file.ts'
import { ModelService, type ObservedResponse, RUN_ID } from './model-service.ts'
import { NEVER, type SimulationPlan } from './random-plans.ts'

export interface SimulationResult {
  readonly service: ModelService
  readonly main: MainResult
  /** Absent if post found nothing to do, or did not run. */
  readonly post?: PostResult | undefined
  readonly messages: readonly string[]
}

interface PostResult {
  readonly begunMs: number
  readonly endedMs: number
  readonly responses: readonly ObservedResponse[]
  /** What post read in main's file. Undefined if the file was gone before. */
  readonly left?: LeftToDo | undefined
}

interface MainResult {
  readonly end: 'success' | 'failure' | 'killed' | 'crashed' | 'hanging'
  readonly endedMs: number
  readonly signalled?: { readonly cause: AbortCause; readonly atMs: number } | undefined
  readonly responses: readonly ObservedResponse[]
  readonly outputs: ReadonlyMap<string, unknown>
  /** The last line of main's file at the end of main. Undefined if the file was removed. */
  readonly left?: LeftToDo | undefined
  /** Main could not write the phase "starting". */
  readonly isStartRefused: boolean
}

interface Machine {
  readonly clock: FakeClock
  readonly service: ModelService
  readonly random: () => number
  readonly messages: string[]
}

/** If main runs this long after the limit of the wait, it hangs. */
const HANGING_AFTER_MS = 3_600_000
/** Main looks for the request to stop and for its file at multiples of this time. */
const LOOK_MS = 250

export async function simulateStep(plan: SimulationPlan): Promise<SimulationResult> {
  const clock = new FakeClock()
  const service = new ModelService(clock, plan.service)
  const messages: string[] = []
  const machine = { clock, service, random: randomFrom(plan.seed), messages }
  const { file, die, ended } = startMain(plan, machine)
  const { hasPost, postAfterMs, container } = plan.runner
  const jobEnd = container === undefined ? [] : [clock.sleep(container.atMs).then(() => undefined)]
  const before = await clock.run(Promise.race([ended, ...jobEnd]))
  const isLeft = container?.end === 'shutdown' && before === undefined
  // Main finds the folder empty when it next looks. The container stays.
  if (isLeft) file.remove()
  if (isLeft || !hasPost) return { service, main: await clock.run(ended), messages }

  await clock.run(clock.sleep(postAfterMs))
  // findMainFiles decides this before anything is loaded.
  const post = file.exists() ? await runPost(plan, file, machine) : undefined
  // The container is removed, or the job is over.
  die()
  return { service, main: await clock.run(ended), post, messages }
}

async function runPost({ runner }: SimulationPlan, file: MemoryFile, machine: Machine): Promise<PostResult> {
  const { clock, random, service, messages } = machine
  const begunMs = clock.now()
  const responses: ObservedResponse[] = []
  const controller = new AbortController()
  if (runner.postSignal !== undefined) {
    clock.at(begunMs + runner.postSignal.atMs, () => controller.abort(new StepAborted('system signal', clock.now())))
  }
  const log: World['log'] = { info: () => {}, warning: (message) => messages.push(render(message)) }
  const open = async () => service.client((response) => responses.push(response))
  let left: LeftToDo | undefined
  const read = file.read.bind(file)
  file.read = () => {
    left = read()
    return left
  }
  const world = { clock, random, signal: controller.signal, log, open, hasSameInputs: () => true }
  await clock.run(cleanUpAfterMain([file], world))
  return { begunMs, endedMs: clock.now(), responses, left }
}

/** Main as a process that can be killed at any moment. After that, it has no effect and gets no response. */
function startMain({ request, service: given, runner, commentMs }: SimulationPlan, machine: Machine) {
  const { clock, service, random, messages } = machine
  const file = new MemoryFile({ phase: 'nothing started' })
  const responses: ObservedResponse[] = []
  const outputs = new Map<string, unknown>()
  const controller = new AbortController()
  const death = Promise.withResolvers<'killed'>()
  const crashInTimer = Promise.withResolvers<'crashed'>()
  const crash = new Error('a bug in main')
  let signalled: MainResult['signalled']
  let isStartRefused = false
  let isDead = false
  let effects = 0

  function die(): void {
    isDead = true
    death.resolve('killed')
  }

  /** Does it at once, or when main is no longer blocked. */
  function whenRunning(task: () => void): void {
    const { atMs, forMs } = runner.blocked ?? { atMs: 0, forMs: 0 }
    if (clock.now() >= atMs && clock.now() < atMs + forMs) clock.at(atMs + forMs, task)
    else task()
  }

  function end(cause: AbortCause): void {
    whenRunning(() => {
      if (isDead) return
      controller.abort(new StepAborted(cause, clock.now()))
      signalled ??= { cause, atMs: clock.now() }
    })
  }

  /** @param mayCrash false if main treats every thrown error as a place that cannot be written */
  function effect<T>(task: () => T, mayCrash = true): T | undefined {
    effects++
    const { injectedFault } = runner
    if (effects === injectedFault?.beforeEffect && !isDead) {
      if (injectedFault.kind === 'crash' && mayCrash) throw crash
      die()
    }
    return isDead ? undefined : task()
  }

  function whileAlive<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => whenRunning(() => isDead || resolve(value)),
        (error) => whenRunning(() => isDead || reject(error)),
      )
    })
  }

  function requested<T>(task: () => Promise<T>): Promise<T> {
    const response = effect(task)
    return response === undefined ? new Promise(() => {}) : whileAlive(response)
  }

  function say(message: Fragment): void {
    effect(() => {
      // In a container, nobody reads main's log after the end of the step. Until main knows this, main counts as heard.
      const { container } = runner
      const isHeard = container === undefined || clock.now() < container.atMs || signalled === undefined
      if (isHeard) messages.push(render(message))
    })
  }

  // The mainFile catches what these two throw. So a crash in them would be none.
  const append = (left: LeftToDo) => effect(() => file.append(left), false)
  const remove = () => effect(() => file.remove(), false)
  const [exists, answerStopRequest] = [() => file.exists(), () => file.answerStopRequest()]
  const mainFile = new MainFileWriter(Object.assign(new MemoryFile(), { append, remove, exists, answerStopRequest }))
  const log: World['log'] = { info: () => effect(() => {}), warning: say }
  mainFile.attachLog(log)
  const client = service.client((response) => isDead || responses.push(response))
  const { cancel } = client
  const world: World = {
    clock: {
      now: () => clock.now(),
      epochMs: () => clock.epochMs(),
      sleep: (ms, signal) => whileAlive(clock.sleep(ms, signal)),
    },
    random,
    signal: controller.signal,
    service: {
      ...client,
      start: (parameters, options) => requested(() => client.start(parameters, options)),
      get: (runId, options) => requested(() => client.get(runId, options)),
      ...(cancel && { cancel: (runId, options) => requested(() => cancel(runId, options)) }),
    },
    log,
    mainFile,
    setOutput: (name, value) => effect(() => outputs.set(name, value)),
    annotate: ({ message }) => say(message),
    mask: () => effect(() => {}),
    programText: () => '',
    writeSummary: (build) => effect(() => build(0)),
    writeReportFiles: () => effect(() => '/reports'),
    writeComment: async () => {
      await requested(() => clock.sleep(commentMs, controller.signal))
      return undefined
    },
  }

  /** process.ts does this too. */
  function endByCrash(cause: unknown): 'crashed' {
    if (cause !== crash) throw cause
    return 'crashed'
  }

  /** What the timer in main.ts does. */
  function look(): void {
    whenRunning(() => {
      try {
        if (!isDead && mainFile.answerPostAndCheckStop()) end('end of job')
      } catch (cause) {
        crashInTimer.resolve(endByCrash(cause))
      }
    })
  }

  const isFull = () =>
    runner.fullDisks.some(({ fromMs, forMs }) => clock.now() >= fromMs && clock.now() < fromMs + forMs)
  file.isDiskFull = isFull
  file.onNews = () => clock.at((Math.floor(clock.now() / LOOK_MS) + 1) * LOOK_MS, look)
  clock.at(runner.fileRemovedAtMs ?? NEVER, () => file.remove())
  clock.at(runner.stopByOtherAtMs ?? NEVER, () => file.askToStop())
  clock.at(runner.killAtMs ?? NEVER, die)
  for (const { signal, atMs } of runner.signals) {
    clock.at(atMs, () => end('system signal'))
    clock.at(atMs + (signal === 'SIGINT' ? 10_000 : 2_500), die)
  }

  async function run(): Promise<MainResult> {
    const subject = {
      target: { kind: 'project', id: 'web-shop' },
      ownsRun: !given.isGiven,
      parameters: {},
      matrix: '',
    } as const
    const settings = {
      showOutput: false,
      runUrlOf: () => undefined,
      reports: { summary: 'always', annotations: true },
    } as const
    const runId = given.isGiven ? RUN_ID : undefined
    const exit = whileAlive(performStep({ ...request, ...settings, subject, runId }, world)).then(
      ({ success }) => (success ? ('success' as const) : ('failure' as const)),
      (cause) => {
        if (!(cause instanceof MainFileNotWritten)) return endByCrash(cause)
        // run-main.ts does this too.
        outputs.set('conclusion', 'error')
        isStartRefused = true
        mainFile.done()
        return 'failure' as const
      },
    )
    const hanging = clock.sleep(request.waitLimitMs + HANGING_AFTER_MS).then(() => 'hanging' as const)
    const ending = await Promise.race([death.promise, crashInTimer.promise, hanging, exit])
    die()
    const left = lastLine(file.text ?? '')
    return { end: ending, endedMs: clock.now(), signalled, responses, outputs, left, isStartRefused }
  }

  return { file, die, ended: run() }
}

/** Numbers from 0 to 1 by Lehmer's generator. A seed always gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 0x7fff_ffff
    return state / 0x7fff_ffff
  }
}
