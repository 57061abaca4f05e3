import { StepCancelled } from './action/abort.ts'
import { systemClock } from './clock.ts'

/** The one AbortSignal of a process, which aborts with a `StepCancelled` when the runner tells the process to end. */
export function abortOnRunnerSignal(): AbortSignal {
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
    process.on(signal, () => abort.abort(new StepCancelled(signal, systemClock.now())))
  }
  return abort.signal
}
