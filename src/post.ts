import { findHandovers, parseRecord } from './handover/record.ts'
import { removeStepFile } from './handover/step-file.ts'

// If the runner's state says "done", post only removes main's file. In this case, post loads more code only for the debug
// log.
const recordOfState = parseRecord(process.env.STATE_record ?? '')
const isDone = recordOfState?.phase === 'done'
if (isDone) removeStepFile(recordOfState.file)
const handovers = isDone ? [] : findHandovers(process.env, recordOfState)
if (handovers.length > 0 || process.env.RUNNER_DEBUG === '1') {
  const { abortOnSignals, exitAfter, maskKey } = await import('./process.ts')
  const { signal } = abortOnSignals()
  maskKey(process.env)
  const task = async () => {
    const { cleanUpAfterMain } = await import('./clean-up-after-main.ts')
    await cleanUpAfterMain(process.env, handovers, signal)
    return 0
  }
  await exitAfter(task, { crashLevel: 'warning' })
}
