import { closeSync, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readPartOfFile } from '../machine/files.ts'

const OUTPUT_FILE = 'output.txt'
const OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024

/** It is written while the run runs, so it stays if the service is killed. An error is logged, and changes no verdict. */
export class RunOutput {
  readonly folder: string
  readonly #logError: (text: string) => void
  #file: number | undefined
  #roomBytes: number

  constructor(folder: string, logError: (text: string) => void, limitBytes = OUTPUT_LIMIT_BYTES) {
    this.folder = folder
    this.#logError = logError
    this.#roomBytes = limitBytes
  }

  /** Opens the file before the tests begin, so that they cannot put another file in its place. */
  open(): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      this.#file = openSync(join(this.folder, OUTPUT_FILE), 'wx', 0o600)
    } catch (error) {
      this.#logError(`could not create the file for its output: ${messageOf(error)}`)
    }
  }

  write(text: string): void {
    if (this.#file === undefined) return
    this.#roomBytes -= Buffer.byteLength(text)
    const isFull = this.#roomBytes < 0
    try {
      writeFileSync(this.#file, isFull ? '\n… The rest of the output is left out.\n' : text)
      if (isFull) this.close()
    } catch (error) {
      this.#logError(`could not write more of its output: ${messageOf(error)}`)
      this.close()
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /**
   * Keeps the output folder of the framework, such as traces. Links are left out, because they may lead from a container to any
   * file of this machine.
   */
  async keepFiles(written: string): Promise<void> {
    try {
      if (!lstatSync(written, { throwIfNoEntry: false })?.isDirectory()) return
      const entries = await readdir(written, { recursive: true, withFileTypes: true })
      if (entries.length === 0) return
      const others = entries.filter((entry) => !entry.isDirectory() && !entry.isFile())
      for (const { parentPath, name } of others) await rm(join(parentPath, name))
      await rename(written, join(this.folder, 'files'))
    } catch (error) {
      this.#logError(`could not keep the files of the framework: ${messageOf(error)}`)
    }
  }
}

/** A client reads at most this much of the output at once. */
const PART_BYTES = 256 * 1024

/** Tests may have made the file unreadable. A client must learn how the run is nevertheless. */
export function outputBytes(folder: string): number {
  try {
    return lstatSync(join(folder, OUTPUT_FILE)).size
  } catch {
    return 0
  }
}

/**
 * Reads the output from byte `from` on. `next` is the byte at which the next part begins. A client cannot compute it from `text`,
 * because each byte that is no UTF-8 becomes a replacement character of three bytes.
 */
export function readOutput(folder: string, from: number): { text: string; next: number } {
  const part = readPartOfFile(join(folder, OUTPUT_FILE), from, PART_BYTES)
  // In UTF-8, each byte of a character but its first begins with the bits 10.
  const lastCharacter = part.findLastIndex((byte) => byte >> 6 !== 0b10)
  // If the file goes on, the last character may be cut. So the next part has it.
  const mayBeCut = part.length === PART_BYTES && lastCharacter > 0
  const whole = mayBeCut ? part.subarray(0, lastCharacter) : part
  return { text: whole.toString(), next: from + whole.length }
}
