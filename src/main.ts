import { createMainRecord } from './github/record.ts'
import { abortOnRunnerSignal, exitAfter, maskKey, watch } from './process.ts'

// Nothing else is loaded before. First come the signal handlers, because a signal without a handler kills main. Then
// comes the record, by which post finds main. Then comes the mask, which keeps the key out of the log.
const { signal, abort } = abortOnRunnerSignal()
const record = createMainRecord(process.env)
maskKey(process.env)

watch(record.isFolderEmptied, () => abort('folder emptied'))

const task = async () => {
  const { runStep } = await import('./run-step.ts')
  return (await runStep(process.env, signal, record)) ? 0 : 1
}
await exitAfter(task, () => abort('log closed'))
