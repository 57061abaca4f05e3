import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ScenarioOptions, scenario } from '../test/support/scenario.ts'
import type { ProcessResult } from '../tools/runner-emulator/runner.ts'

export interface StepTimes {
  /** From the start of main to the start request at the service. */
  readonly startMs: number
  /** From the last request at the service to the end of main, the response included. */
  readonly tailMs: number
  /** All of post, which has nothing to do. */
  readonly postMs: number
}

/** Runs a step of the built action against a scripted service, and looks at it from outside. */
export async function timeStep(options: ScenarioOptions): Promise<StepTimes> {
  await using run = await scenario(options)
  const { service, step } = run
  const begunMs = performance.now()
  const arrived = service.waitForRequest('start').then(() => performance.now())
  const end = step.startMain().result()
  const startedMs = await Promise.race([arrived, end.then(refuseEarlyEnd)])
  await end
  const endedMs = performance.now()
  const betweenMs = (service.requests.at(-1)?.atMs ?? 0) - (service.requests[0]?.atMs ?? 0)
  await step.runPost()
  return {
    startMs: startedMs - begunMs,
    tailMs: endedMs - startedMs - betweenMs,
    postMs: performance.now() - endedMs,
  }
}

export interface ObservedStep {
  readonly ended: ProcessResult
  /** One at each response, and the last at the exit: times since the start of the process, CPU of all its threads. */
  readonly marks: readonly { readonly atMs: number; readonly cpuMs: number }[]
  readonly peakBytes: number
}

/** Runs main of the built action against a scripted service, and has the process look at itself. */
export async function observeStep(options: ScenarioOptions): Promise<ObservedStep> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'observations.json')
  const observer = JSON.stringify(join(import.meta.dirname, 'observe.cjs'))
  const env = { ...options.env, NODE_OPTIONS: `--require ${observer}`, BENCH_OBSERVATIONS: file }
  try {
    await using run = await scenario({ ...options, env })
    const ended = await run.step.startMain().result()
    return { ended, ...JSON.parse(readFileSync(file, 'utf8')) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function refuseEarlyEnd({ log }: ProcessResult): never {
  throw new Error(`The step ended before its start request:\n${log.join('\n')}`)
}
