import { abortOnRunnerSignal } from './runner-signals.ts'

// Most steps leave nothing to do: that is seen here, before anything else is loaded.
const { STATE_start: start, STATE_run: run, STATE_settled: settled } = process.env

if (!settled && (start || run)) {
  const abort = abortOnRunnerSignal()
  const { endProcess } = await import('./process-end.ts')
  const deed = async () => {
    const { settleRun } = await import('./settle.ts')
    await settleRun(process.env, run, abort)
    return 0
  }
  await endProcess(deed, true)
}
