import { createMainRecord } from './github/record.ts'
import { abortOnRunnerSignal, exitAfter, maskKey, watch } from './process.ts'

// In this order, and before anything else is loaded: no signal finds the action without a handler, post knows of main,
// and no line of the log shows the key. A second signal changes nothing.
const { signal, abort } = abortOnRunnerSignal()
const record = createMainRecord(process.env)
maskKey(process.env)

watch(record.isFolderEmptied, () => abort('folder emptied'))

const task = async () => {
  const { runStep } = await import('./run-step.ts')
  return (await runStep(process.env, signal, record)) ? 0 : 1
}
await exitAfter(task, () => abort('log closed'))
