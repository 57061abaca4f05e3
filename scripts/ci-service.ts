// For the workflows in .github/: a service on the runner's loopback address in which the id of the project says what becomes
// of its runs. Writes its address and its key to the step's outputs, and serves until the job ends.
import { appendFileSync } from 'node:fs'
import { type Script, startScriptedService } from '../tools/scripted-service/scripted-service.ts'

const PASSED = { title: 'cart > adds an item', status: 'PASSED', durationMs: 12 }
const FAILED = { title: 'cart > rounds to cents', status: 'FAILED', durationMs: 34 }

const SCRIPTS: Readonly<Record<string, Script>> = {
  passes: { queuedMs: 100, runningMs: 100, cases: [PASSED] },
  fails: { runningMs: 100, end: 'FAILED', cases: [PASSED, FAILED] },
  hangs: { runningMs: Number.POSITIVE_INFINITY },
}

const service = await startScriptedService({
  script: ({ projectId = '' }) => {
    const script = SCRIPTS[projectId]
    if (script === undefined) throw new Error(`"${projectId}" is none of ${Object.keys(SCRIPTS).join(', ')}.`)
    return script
  },
})
const output = process.env.GITHUB_OUTPUT
if (output === undefined) throw new Error('GITHUB_OUTPUT is not set: this runs in a step of a workflow.')
appendFileSync(output, `key=${service.key}\nurl=${service.url}\n`)
