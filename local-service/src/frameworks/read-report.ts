import { execFile } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Framework } from './framework.ts'
import type { Report, TestedFolders } from './report.ts'

const READER = join(import.meta.dirname, `report-reader${extname(import.meta.filename)}`)
const MEMORY_LIMIT_MIB = 1024
const TIME_LIMIT_MS = 60_000
/** 100,000 test cases with titles of 200 bytes. */
const OUTPUT_LIMIT_BYTES = 32 * 1024 * 1024

/** Undefined if the file is not a report. Throws with the reason if the file cannot be read. */
export async function readReport(file: string, { root, folder }: TestedFolders): Promise<Report | undefined> {
  return (await read('report', file, root, folder)) as Report | undefined
}

/**
 * The framework projects in a list. Undefined if the file is not a list. Throws with the reason if the file cannot be
 * read.
 */
export async function readList({ name }: Framework, file: string): Promise<string[] | undefined> {
  return (await read('list', file, name)) as string[] | undefined
}

function read(what: 'report' | 'list', ...further: string[]): Promise<unknown> {
  const args = [`--max-old-space-size=${MEMORY_LIMIT_MIB}`, READER, what, ...further]
  const limits = { timeout: TIME_LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES } as const
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { ...limits, cwd: '/', env: {} }, (error, stdout) => {
      const limits = `${TIME_LIMIT_MS / 1000} s or ${MEMORY_LIMIT_MIB} MiB`
      const problem = `reading it takes more than ${limits}, or it has too many test cases`
      if (error !== null) return reject(new Error(problem))
      const result = JSON.parse(stdout)
      return result.kind === 'read' ? resolve(result.found) : reject(new Error(result.reason))
    })
  })
}
