import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ScenarioOptions, scenario } from '../test/support/scenario.ts'
import type { ProcessResult } from '../tools/runner-emulator/runner.ts'

/** What a process noted about itself, times counted from its start. */
export interface Observations {
  readonly marks: readonly Mark[]
  readonly peakBytes: number
}

export interface Mark {
  /** `node` (it is up), the address of a file (its loading begins), one of undici's diagnostics channels, or `exit`. */
  readonly what: string
  readonly atMs: number
  /** Of all the process's threads. */
  readonly cpuMs: number
  /** The part of it that went into JSON.parse. */
  readonly parsingCpuMs: number
}

export interface StepTimes {
  /** From the start of the process to the start request at the service. */
  readonly startMs: number
  /** From the last request at the service to the end of the process, the response included. */
  readonly tailMs: number
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
  return { startMs: startedMs - begunMs, tailMs: endedMs - startedMs - betweenMs }
}

export interface ObservedStep {
  readonly ended: ProcessResult
  readonly observations: Observations
}

/** Runs a step of the built action against a scripted service, and has the process look at itself. */
export async function observeStep(options: ScenarioOptions): Promise<ObservedStep> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'observations.json')
  const observer = JSON.stringify(join(import.meta.dirname, 'observe.cjs'))
  const env = { ...options.env, NODE_OPTIONS: `--require ${observer}`, BENCH_OBSERVATIONS: file }
  try {
    await using run = await scenario({ ...options, env })
    const ended = await run.step.startMain().result()
    return { ended, observations: JSON.parse(readFileSync(file, 'utf8')) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function refuseEarlyEnd({ log }: ProcessResult): never {
  throw new Error(`The step ended before its start request:\n${log.join('\n')}`)
}
