import { findMains, parseRecord } from './github/record.ts'
import { removeStepFile } from './github/step-file.ts'

// Most steps leave nothing to do. The record tells that before anything else is loaded, unless the debug log shows it.
const saved = parseRecord(process.env.STATE_record ?? '')
const mains = saved?.phase === 'done' ? [] : findMains(process.env, saved)
if (saved?.phase === 'done') removeStepFile(saved.file)
if (mains.length > 0 || process.env.RUNNER_DEBUG === '1') {
  const { abortOnRunnerSignal, exitAfter, maskKey } = await import('./process.ts')
  const { signal } = abortOnRunnerSignal()
  maskKey(process.env)
  const task = async () => {
    const { cancelUnfinishedRun } = await import('./cancel-unfinished-run.ts')
    await cancelUnfinishedRun(process.env, saved, mains, signal)
    return 0
  }
  await exitAfter(task, () => {}, 'warning')
}
