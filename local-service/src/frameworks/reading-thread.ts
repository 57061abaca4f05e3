import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import { OverLimit, type TestedFolders } from '../machine/files.ts'
import { type OnFile, UnusableBlobs } from './blob-folder.ts'
import { fitResults } from './fit-results.ts'
import { type JunitReports, readJunitReports } from './junit-reports.ts'
import { checkPlaywrightBlobs } from './playwright-blobs.ts'
import { toReport } from './report.ts'
import { readEvents } from './report-reader.ts'
import { unusable } from './unusable.ts'
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
  /** The reader has ended. The result can be `Unusable`. */
  | { readonly kind: 'result'; readonly result: unknown }
  /** The file cannot be read. */
  | { readonly kind: 'error'; readonly why: string; readonly isOverLimit: boolean }

const respond = (response: Response) => parentPort?.postMessage(response)

parentPort?.on('message', async ({ name, input }: Request) => {
  try {
    const read = READERS[name] as (input: unknown, onFile: OnFile) => unknown
    respond({ kind: 'result', result: await read(input, (file) => respond({ kind: 'file', file })) })
  } catch (error) {
    if (error instanceof UnusableBlobs) respond({ kind: 'result', result: unusable(error.message) })
    else respond({ kind: 'error', why: messageOf(error), isOverLimit: error instanceof OverLimit })
  }
})
