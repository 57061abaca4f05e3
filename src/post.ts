import { StepCancelled } from './action/abort.ts'
import { systemClock } from './clock.ts'

// Most steps leave nothing to do: that is seen here, before anything else is loaded.
const { STATE_start: start, STATE_run: run, STATE_settled: settled } = process.env

if (!settled && (start || run)) {
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
    process.on(signal, () => abort.abort(new StepCancelled(signal, systemClock.now())))
  }

  const { endProcess } = await import('./process-end.ts')
  const deed = async () => {
    const { settleRun } = await import('./settle.ts')
    await settleRun(process.env, run, abort.signal)
    return 0
  }
  await endProcess(deed, true)
}
