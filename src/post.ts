import { findMains, parseRecord } from './handover/record.ts'
import { removeStepFile } from './handover/step-file.ts'

// In most steps, nothing is left to do. Post then loads nothing else, unless debug logging is on.
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
