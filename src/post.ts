import { abortOnRunnerSignal } from './runner-signals.ts'

// Most steps leave nothing to do: that is seen here, before anything else is loaded.
const { STATE_start: start, STATE_run: run, STATE_done: done } = process.env

if (!done && (start || run)) {
  const abort = abortOnRunnerSignal()
  const { exitAfter } = await import('./process-exit.ts')
  const task = async () => {
    const { cancelLeftoverRun } = await import('./cancel-leftover-run.ts')
    await cancelLeftoverRun(process.env, run, abort)
    return 0
  }
  await exitAfter(task, true)
}
