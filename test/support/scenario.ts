import { once } from 'node:events'
import type { Sleep } from '../../tools/runner-emulator/step-runner/node-process.ts'
import { prepareStep, type Step, type StepOptions } from '../../tools/runner-emulator/step-runner/runner.ts'
import {
  type ScriptedService,
  type ScriptedServiceOptions,
  startScriptedService,
} from '../../tools/scripted-service/scripted-service.ts'
import { expectConformingRequests } from './openapi.ts'

export interface Scenario extends AsyncDisposable {
  readonly service: ScriptedService
  readonly step: Step
}

export interface ScenarioOptions
  extends Omit<StepOptions, 'inputs'>,
    Pick<ScriptedServiceOptions, 'script' | 'faults' | 'tls'> {
  /** Added to the inputs that reach the service. An empty text removes an input. */
  readonly inputs?: Readonly<Record<string, string>>
  /** If true, an earlier step has announced the service, and the step has no inputs for it. */
  readonly isAnnounced?: boolean
}

/**
 * The grace periods of the runner do not end before main ends, because a busy machine must not decide a test.
 * test/action/start-run.test.ts and test/simulation check with a fake clock whether main is quick enough.
 */
export const patientRunner: Sleep = (_, signal) => once(signal, 'abort')

export const ONE_PASSED = [{ title: 'cart > adds an item', status: 'PASSED', durationMs: 12 }]
export const ONE_OF_TWO_FAILED = [...ONE_PASSED, { title: 'cart > rounds to cents', status: 'FAILED', durationMs: 34 }]

/** The built action, ready to run as a step of a job, and a scripted service for it to talk to. */
export async function scenario(options: ScenarioOptions = {}): Promise<Scenario> {
  const { script = { cases: ONE_PASSED }, faults = [], tls, inputs, isAnnounced = false, env, ...step } = options
  const service = await startScriptedService({ script, faults, tls })
  const ofService = { 'base-url': service.url, 'api-key': service.key, project: 'web-shop' }
  const announced = {
    TEST_RUN_SERVICE_URL: service.url,
    TEST_RUN_SERVICE_KEY: service.key,
    TEST_RUN_SERVICE_PROJECT: 'web-shop',
    TEST_RUN_SERVICE_COMMIT: 'a'.repeat(40),
  }
  const prepared = prepareStep({
    sleep: patientRunner,
    ...step,
    env: isAnnounced ? { ...announced, ...env } : env,
    inputs: { ...(isAnnounced ? {} : ofService), 'poll-interval-seconds': '0.05', ...inputs },
  })
  return {
    service,
    step: prepared,
    async [Symbol.asyncDispose]() {
      await prepared.dispose()
      await service.close()
      expectConformingRequests(service)
    },
  }
}

/** The value of NODE_OPTIONS with which each process begins with this code. */
export function importing(...code: string[]): string {
  return `--import=data:text/javascript,${encodeURIComponent(code.join('\n'))}`
}

export function requestsOf(service: ScriptedService): string[] {
  return service.requests.map(({ method, path }) => `${method} ${path}`)
}
