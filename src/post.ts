import { findStepFile, removeFile } from './github/step-file.ts'

// Most steps leave nothing to do: that is seen here, by the state and main's file, before anything is loaded.
const { STATE_file: file, STATE_start: start, STATE_run: run, STATE_done: done } = process.env

const path = file === undefined ? undefined : findStepFile(process.env, file)
if (done !== undefined) {
  if (path !== undefined) removeFile(path)
} else if (path !== undefined || run !== undefined || file === undefined) {
  const { abortOnRunnerSignal, exitAfter } = await import('./process.ts')
  const { signal } = abortOnRunnerSignal()
  const task = async () => {
    const { cancelUnfinishedRun } = await import('./cancel-unfinished-run.ts')
    await cancelUnfinishedRun(process.env, { path, file, start, run }, signal)
    return 0
  }
  await exitAfter(task, { neverFail: true })
}
