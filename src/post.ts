// Most steps leave nothing to do: that is seen here, before anything is loaded.
const { STATE_start: start, STATE_run: run, STATE_done: done } = process.env

if (!done && (start || run)) {
  const { abortOnRunnerSignal, exitAfter } = await import('./process.ts')
  const abort = abortOnRunnerSignal()
  const task = async () => {
    const { cancelUnfinishedRun } = await import('./cancel-unfinished-run.ts')
    await cancelUnfinishedRun(process.env, run, abort)
    return 0
  }
  await exitAfter(task, true)
}
