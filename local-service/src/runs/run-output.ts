import { execFile } from 'node:child_process'
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../../src/text/untrusted.ts'
import { removeFolder } from '../workspace/files.ts'

const OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024

/**
 * What a run leaves in its folder of outputs: `output.txt`, and the files of the framework in `files`. The output is written
 * while the run runs, so it stays if the service is killed. An error is a line in the log and never changes the verdict.
 */
export class RunOutput {
  readonly folder: string
  readonly #log: (text: string) => void
  readonly #limitBytes: number
  #file: number | undefined
  #writtenBytes = 0

  constructor(folder: string, log: (text: string) => void, limitBytes = OUTPUT_LIMIT_BYTES) {
    this.folder = folder
    this.#log = log
    this.#limitBytes = limitBytes
  }

  /** Opens the file before the tests begin, so that they cannot put another file in its place. */
  open(): void {
    this.#attempt('create the file for its output', () => {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      this.#file = openSync(join(this.folder, 'output.txt'), 'wx', 0o600)
    })
  }

  write(text: string): void {
    const file = this.#file
    if (file === undefined) return
    const bytes = Buffer.from(text)
    const room = this.#limitBytes - this.#writtenBytes
    const isWritten = this.#attempt('write more of its output', () => {
      writeFileSync(file, bytes.subarray(0, room))
      this.#writtenBytes += bytes.length
      if (bytes.length > room) writeFileSync(file, '\n… The rest of the output is left out.\n')
    })
    if (bytes.length > room) this.#log(`wrote more than ${this.#limitBytes / 2 ** 20} MiB; its output is cut there`)
    if (!isWritten || bytes.length > room) this.close()
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /**
   * Keeps the output folder of the framework, such as traces and screenshots. No process of the run may be alive. Links are
   * left out: whoever uploads the folder would upload the files of this machine to which tests in a container let links lead.
   */
  async keepFiles(written: string): Promise<void> {
    const kept = join(this.folder, 'files')
    try {
      if (!lstatSync(written, { throwIfNoEntry: false })?.isDirectory() || readdirSync(written).length === 0) return
      const run = promisify(execFile)
      await run('find', [written, '!', '-type', 'd', '!', '-type', 'f', '-exec', 'rm', '-f', '--', '{}', '+'])
      await run('mv', ['--', written, kept])
    } catch (error) {
      this.#log(`could not keep the files of the framework: ${messageOf(error)}`)
      await removeFolder(kept).catch(() => undefined)
    }
  }

  #attempt(what: string, action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      this.#log(`could not ${what}: ${messageOf(error)}`)
      return false
    }
  }
}
