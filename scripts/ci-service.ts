// The workflows in .github/ use this service on the runner's loopback address. The project's id decides how a run ends. The
// service writes its address and its key to the step's outputs, and serves until the job ends. If a job's steps cannot have
// outputs, the job sets PORT and KEY.
import { appendFileSync } from 'node:fs'
import { type Script, startScriptedService } from '../tools/scripted-service/scripted-service.ts'

const PASSED = { title: 'cart > adds an item', status: 'PASSED', durationMs: 12 }
const FAILED = { title: 'cart > rounds to cents', status: 'FAILED', durationMs: 34 }

const SCRIPTS: Readonly<Record<string, Script>> = {
  passes: { queuedMs: 100, runningMs: 100, cases: [PASSED] },
  fails: { runningMs: 100, end: 'FAILED', cases: [PASSED, FAILED] },
  // The run's id is fixed, because a cancelled step may lose its outputs.
  hangs: { runId: 'run-that-hangs', runningMs: Number.POSITIVE_INFINITY },
}

const { PORT, KEY, GITHUB_OUTPUT: output } = process.env
const service = await startScriptedService({
  ...(PORT === undefined ? {} : { port: Number(PORT) }),
  ...(KEY === undefined ? {} : { key: KEY }),
  script: ({ projectId }) => {
    const script = SCRIPTS[projectId]
    if (script === undefined)
      throw new Error(`There is no project "${projectId}". Use ${Object.keys(SCRIPTS).join(', ')}.`)
    return script
  },
})
if (PORT === undefined) {
  if (output === undefined)
    throw new Error('GITHUB_OUTPUT is not set. Run this script in a step of a workflow, or set PORT.')
  appendFileSync(output, `key=${service.key}\nurl=${service.url}\n`)
}
