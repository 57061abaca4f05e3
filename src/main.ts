import { createMainState } from './github/state.ts'
import { abortOnRunnerSignal, exitAfter, watch } from './process.ts'

// Before anything else is loaded, so that no signal finds the action without a handler. A second one changes nothing.
const { signal, abort } = abortOnRunnerSignal()

const endWithJob = () => abort('job over')
const state = createMainState(process.env, endWithJob)
process.on('exit', () => {
  if (state.file?.phase === 'nothing-started') state.file.remove()
})
watch(() => state.isJobOver(), endWithJob)

const task = async () => {
  const { runStep } = await import('./run-step.ts')
  return (await runStep(process.env, signal, state)) ? 0 : 1
}
await exitAfter(task, endWithJob)
