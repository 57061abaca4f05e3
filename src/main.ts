import { abortOnRunnerSignal, exitAfter } from './process.ts'

// Before anything else is loaded, so that no signal finds the action without a handler. A second one changes nothing.
const abort = abortOnRunnerSignal()

await exitAfter(async () => {
  const { runStep } = await import('./run-step.ts')
  return (await runStep(process.env, abort)) ? 0 : 1
})
