import { type ChildProcess, execFile } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Framework } from './framework.ts'
import type { Report, TestedFolders } from './report.ts'

const READER = join(import.meta.dirname, `report-reader${extname(import.meta.filename)}`)
const MEMORY_LIMIT_MIB = 1024
const TIME_LIMIT_MS = 60_000
/** 100,000 test cases with titles of 200 bytes. */
const OUTPUT_LIMIT_BYTES = 32 * 1024 * 1024

/**
 * A process that reads one file of a framework. It may be started before there is a file, because Node takes longer to start
 * than to read. If the service dies, it ends.
 */
export class ReportReader {
  readonly #process: ChildProcess
  readonly #printed: Promise<string>

  constructor() {
    const args = [`--max-old-space-size=${MEMORY_LIMIT_MIB}`, READER]
    const options = { maxBuffer: OUTPUT_LIMIT_BYTES, killSignal: 'SIGKILL', cwd: '/', env: {} } as const
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#process = execFile(process.execPath, args, options, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    )
    this.#printed = promise
    // Nobody may wait for it yet.
    this.#printed.catch(() => undefined)
    this.#process.stdin?.on('error', () => undefined)
  }

  /** Undefined if the file is not a report. Throws with the reason if the file cannot be read. */
  async readReport(file: string, { root, folder }: TestedFolders): Promise<Report | undefined> {
    return (await this.#read('report', file, root, folder)) as Report | undefined
  }

  /**
   * The framework projects in a list. Undefined if the file is not a list. Throws with the reason if the file cannot be
   * read.
   */
  async readList({ name }: Framework, file: string): Promise<string[] | undefined> {
    return (await this.#read('list', file, name)) as string[] | undefined
  }

  /** Ends the process, whether it has read a file or not. */
  dismiss(): void {
    this.#process.kill('SIGKILL')
  }

  async #read(...request: readonly string[]): Promise<unknown> {
    const timer = setTimeout(() => this.dismiss(), TIME_LIMIT_MS)
    this.#process.stdin?.end(JSON.stringify(request))
    const printed = await this.#printed
      .catch(() => {
        const limits = `${TIME_LIMIT_MS / 1000} s or ${MEMORY_LIMIT_MIB} MiB`
        throw new Error(`reading it takes more than ${limits}, or it has too many test cases`)
      })
      .finally(() => clearTimeout(timer))
    const result = JSON.parse(printed)
    if (result.kind !== 'read') throw new Error(result.reason)
    return result.found
  }
}
