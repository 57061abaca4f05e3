import { openMainFile } from './handover/main-file-writer.ts'
import { abortOnSignals, exitAfter, maskKey } from './process.ts'

// Main does three things before it loads run-main.ts, which loads all the rest. It installs the signal handlers, because a
// signal without a handler kills main. It creates its file, by which post finds main. It masks the key, so that no log shows
// the key.
const { signal, abort } = abortOnSignals()
const mainFile = openMainFile(process.env)
maskKey(process.env)
// Main answers post until it exits, even while it stops. If main does not answer, post assumes that main is dead.
setInterval(() => {
  if (mainFile.answerPostAndCheckStop()) abort('end of job')
}, 250).unref()

const task = async () => {
  const { runMain } = await import('./run-main.ts')
  return (await runMain(process.env, signal, mainFile)) ? 0 : 1
}
// If nobody reads the log any more, the runner's worker is dead.
await exitAfter(task, { signal, crashLevel: 'error', onLogClosed: () => abort('end of job') })
