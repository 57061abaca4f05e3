import { findMains, parseRecord } from './handover/record.ts'
import { removeStepFile } from './handover/step-file.ts'

// In most steps, the record says "done". Post then loads nothing else, unless debug logging is on. If the record says
// anything else, post usually finds one main.
const recordOfState = parseRecord(process.env.STATE_record ?? '')
const mains = recordOfState?.phase === 'done' ? [] : findMains(process.env, recordOfState)
if (recordOfState?.phase === 'done') removeStepFile(recordOfState.file)
if (mains.length > 0 || process.env.RUNNER_DEBUG === '1') {
  const { abortOnRunnerSignal, exitAfter, maskKey } = await import('./process.ts')
  const { signal } = abortOnRunnerSignal()
  maskKey(process.env)
  const task = async () => {
    const { cleanUpAfterMain } = await import('./clean-up-after-main.ts')
    await cleanUpAfterMain(process.env, recordOfState, mains, signal)
    return 0
  }
  await exitAfter(task, { crash: 'warning' })
}
