import { endProcess } from './process-exit.ts'
import { abortOnRunnerSignal } from './runner-signals.ts'

// Before anything else is loaded, so that no signal finds the action without an answer. A second one changes nothing.
const abort = abortOnRunnerSignal()

await endProcess(async () => {
  const { runStep } = await import('./run-step.ts')
  return (await runStep(process.env, abort)) ? 0 : 1
})
