import { StepCancelled } from './action/abort.ts'
import { systemClock } from './clock.ts'
import { endProcess } from './process-end.ts'

// Before anything else is loaded, so that no signal finds the action without an answer. A second one changes nothing.
const abort = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
  process.on(signal, () => abort.abort(new StepCancelled(signal, systemClock.now())))
}

await endProcess(async () => {
  const { runStep } = await import('./step.ts')
  return (await runStep(process.env, abort.signal)) ? 0 : 1
})
