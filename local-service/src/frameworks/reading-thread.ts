import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import { OverLimit, type TestedFolders } from '../machine/files.ts'
import { type OnFile, UnusableReports } from './blob-folder.ts'
import { fitResults } from './fit-results.ts'
import { type JunitReports, readJunitReports } from './junit-reports.ts'
import { checkPlaywrightBlobs } from './playwright-blobs.ts'
import { toReport } from './report.ts'
import { readEvents } from './report-reader.ts'
import { checkVitestBlobs } from './vitest-blobs.ts'

// The thread in which the service reads what tests wrote. `reading.ts` starts it, and ends it if it takes too much.

/** What the service's reporter wrote. */
function readEventsFile({ file, folders }: { file: string; folders: TestedFolders }, onFile: OnFile) {
  onFile(file)
  const report = toReport(readEvents(file), folders)
  return report && fitResults(report)
}

const READERS = {
  junit: async (input: JunitReports, onFile: OnFile) => fitResults(await readJunitReports(input, onFile)),
  vitestBlobs: checkVitestBlobs,
  playwrightBlobs: checkPlaywrightBlobs,
  events: readEventsFile,
}

export type Readers = typeof READERS

export interface Request {
  readonly name: keyof Readers
  readonly input: Parameters<Readers[keyof Readers]>[0]
}

export type Response =
  /** The reader begins with this file. */
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'read'; readonly value: unknown }
  /** It was read, and cannot be used. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'over-limit' | 'failed'; readonly why: string }

const respond = (response: Response) => parentPort?.postMessage(response)

parentPort?.on('message', async ({ name, input }: Request) => {
  try {
    const read = READERS[name] as (input: unknown, onFile: OnFile) => unknown
    respond({ kind: 'read', value: await read(input, (file) => respond({ kind: 'file', file })) })
  } catch (error) {
    respond({ kind: kindOf(error), why: messageOf(error) })
  }
})

function kindOf(error: unknown) {
  if (error instanceof UnusableReports) return 'unusable'
  return error instanceof OverLimit ? 'over-limit' : 'failed'
}
