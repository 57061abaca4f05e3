import { findStepFiles, removeFile } from './github/step-file.ts'

// Most steps leave nothing to do: that is seen here, by the state and main's file, before anything is loaded.
const { STATE_file: file, STATE_start: start, STATE_run: run, STATE_done: done } = process.env

const paths = file === undefined ? [] : findStepFiles(process.env, file)
if (done !== undefined) {
  for (const path of paths) removeFile(path)
} else if (paths.length > 0 || run !== undefined || file === undefined) {
  const { abortOnRunnerSignal, exitAfter } = await import('./process.ts')
  const { signal } = abortOnRunnerSignal()
  const task = async () => {
    const { cancelUnfinishedRun } = await import('./cancel-unfinished-run.ts')
    await cancelUnfinishedRun(process.env, { file, start, run }, signal)
    return 0
  }
  await exitAfter(task, () => {}, 'warning')
}
