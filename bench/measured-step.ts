import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScenarioOptions, scenario } from '../test/support/scenario.ts'
import { prepareStep } from '../tools/runner-emulator/step-runner/runner.ts'

export interface StepTimes {
  /** From the start of main to the start request at the service. */
  readonly startMs: number
  /** From the arrival of the last request at the service to the end of main. */
  readonly tailMs: number
}

/** Runs main of the built action against a scripted service, and measures it from outside. */
export async function timeStep(options: ScenarioOptions): Promise<StepTimes> {
  await using run = await scenario(options)
  const begunMs = performance.now()
  const arrived = run.service.waitForRequest('start').then(() => performance.now())
  const end = run.step.startMain().result()
  const startedMs = await Promise.race([
    arrived,
    end.then(({ log }) => {
      throw new Error(`The step ended before its start request:\n${log.join('\n')}`)
    }),
  ])
  await end
  const endedMs = performance.now()
  const { requests } = run.service
  const betweenMs = (requests.at(-1)?.atMs ?? 0) - (requests[0]?.atMs ?? 0)
  return { startMs: startedMs - begunMs, tailMs: endedMs - startedMs - betweenMs }
}

export interface StepUse {
  /** Processor time of all threads, from the last response to the exit. */
  readonly cpuMs: number
  /** Processor time of all threads, from the start of main to the exit. */
  readonly totalCpuMs: number
  /** From the arrival of the poll that shows the end of the run, to the exit. */
  readonly endMs: number
  readonly peakBytes: number
}

/** Runs main of the built action against a scripted service, and lets the process measure itself. */
export async function observeStep(folder: string, options: ScenarioOptions): Promise<StepUse> {
  const file = join(folder, 'observations.json')
  const observer = JSON.stringify(join(import.meta.dirname, 'observe.cjs'))
  await using run = await scenario({
    ...options,
    env: { NODE_OPTIONS: `--require ${observer}`, BENCH_OBSERVATIONS: file },
  })
  const polled = run.service.waitForRequest('get').then(() => performance.now())
  await run.step.startMain().result()
  return { ...JSON.parse(readFileSync(file, 'utf8')), endMs: performance.now() - (await polled) }
}

/** The time that a step takes if its action does nothing. */
export async function timeEmptyStep(folder: string): Promise<number> {
  const actionDir = join(folder, 'empty')
  mkdirSync(actionDir, { recursive: true })
  writeFileSync(join(actionDir, 'action.yml'), 'name: Nothing\nruns: { using: node24, main: index.js }\n')
  writeFileSync(join(actionDir, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(actionDir, 'index.js'), '')
  await using step = prepareStep({ actionDir })
  const beganMs = performance.now()
  await step.startMain().result()
  return performance.now() - beganMs
}
