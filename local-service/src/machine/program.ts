import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'

interface ProgramOptions {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly limitMs: number
  /** A stop ends the program, in place of the time limit. */
  readonly stop?: AbortSignal | undefined
}

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024

/** A program of the machine could not do what the service needs. The message is the reason alone. */
export class ProgramError extends Error {
  readonly isMissing: boolean

  constructor(message: string, isMissing = false) {
    super(message)
    this.isMissing = isMissing
  }
}

/** Runs a program of the machine, such as git, and returns what it writes. If it fails, throws a ProgramError. */
export function callProgram(argv: readonly string[], options: ProgramOptions): Promise<string> {
  const [program = '', ...args] = argv
  const { folder, env, limitMs, stop } = options
  const signal = stop ?? AbortSignal.timeout(limitMs)
  const how = { cwd: folder, env, signal, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES } as const
  return new Promise((resolve, reject) => {
    execFile(program, args, how, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else if (error.name === 'AbortError') {
        reject(new ProgramError(stop ? 'it was stopped' : `it took longer than ${limitMs / 1000} s`))
      } else if (error.code === 'ENOENT') {
        reject(new ProgramError(whyNotFound(program, folder), existsSync(folder)))
      } else reject(new ProgramError(stderr.trim() || error.message))
    })
  })
}

/** What ENOENT means for a program that runs in a folder: the system has one error for a missing program and a missing folder. */
export function whyNotFound(program: string | undefined, folder: string): string {
  return existsSync(folder) ? `there is no program ${program}` : `there is no folder ${folder}`
}
