// Most steps leave nothing to do: that is seen here, before anything is loaded.
const { STATE_start: start, STATE_run: run, STATE_done: done } = process.env

// Once its id is known, a run that must not be cancelled is left alone.
const isLeftAlone = run && /^\s*false\s*$/i.test(process.env['INPUT_CANCEL-ON-ABORT'] ?? '')

if (!done && !isLeftAlone && (start || run)) {
  const { abortOnRunnerSignal, exitAfter } = await import('./process.ts')
  const abort = abortOnRunnerSignal()
  const task = async () => {
    const { cancelLeftoverRun } = await import('./cancel-leftover-run.ts')
    await cancelLeftoverRun(process.env, run, abort)
    return 0
  }
  await exitAfter(task, true)
}
