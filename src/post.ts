import { findMains, parseRecord } from './handover/record.ts'
import { removeStepFile } from './handover/step-file.ts'

// In most steps, nothing is left to do. Post then loads nothing else, unless debug logging is on. Usually, post finds one
// main. If the runner lost the state, post finds every main whose file has this step's hash.
const ofState = parseRecord(process.env.STATE_record ?? '')
const mains = ofState?.phase === 'done' ? [] : findMains(process.env, ofState)
if (ofState?.phase === 'done') removeStepFile(ofState.file)
if (mains.length > 0 || process.env.RUNNER_DEBUG === '1') {
  const { abortOnRunnerSignal, exitAfter, maskKey } = await import('./process.ts')
  const { signal } = abortOnRunnerSignal()
  maskKey(process.env)
  const task = async () => {
    const { cleanUpAfterMain } = await import('./clean-up-after-main.ts')
    await cleanUpAfterMain(process.env, ofState, mains, signal)
    return 0
  }
  await exitAfter(task, { crash: 'warning' })
}
