import { createRecordWriter } from './handover/record.ts'
import { abortOnRunnerSignal, exitAfter, maskKey, watch } from './process.ts'

// Three steps come before anything else is loaded. First the signal handlers, because a signal without a handler kills
// main. Then the record, by which post finds main. Then the mask, which keeps the key out of the log.
const { signal, abort } = abortOnRunnerSignal()
const { record, isFolderEmptied } = createRecordWriter(process.env)
maskKey(process.env)

let isLogClosed = false
const onLogClosed = () => {
  isLogClosed = true
  abort('log closed')
}
const isJobOver = () => isLogClosed || isFolderEmptied()
watch(isFolderEmptied, () => abort('folder emptied'))

const task = async () => {
  const { runStep } = await import('./run-step.ts')
  return (await runStep(process.env, signal, record, isJobOver)) ? 0 : 1
}
await exitAfter(task, onLogClosed)
