import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import { OverLimit, type TestedFolders } from '../machine/files.ts'
import { quote, toSentence } from '../text.ts'
import { type OnFile, UnusableBlobs } from './blob-folder.ts'
import { fitResults } from './fit-results.ts'
import { type JunitReports, readJunitReports } from './junit-reports.ts'
import { checkPlaywrightBlobs } from './playwright-blobs.ts'
import { toReport } from './report.ts'
import { readEvents } from './report-reader.ts'
import { type Unusable, unusable } from './unusable.ts'
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
  /** The reader begins with a file. `what` is its name in a sentence, such as `The report "a.xml"`. */
  | { readonly kind: 'file'; readonly what: string }
  /** The reader has ended. The result can be `Unusable`. */
  | { readonly kind: 'result'; readonly result: unknown }

const respond = (response: Response) => parentPort?.postMessage(response)

parentPort?.on('message', async ({ name, input }: Request) => {
  let what = 'The report'
  const onFile = (file: string) => {
    what = `The report ${quote(file)}`
    respond({ kind: 'file', what })
  }
  try {
    const read = READERS[name] as (input: unknown, onFile: OnFile) => unknown
    respond({ kind: 'result', result: await read(input, onFile) })
  } catch (error) {
    respond({ kind: 'result', result: toUnusable(error, what) })
  }
})

function toUnusable(error: unknown, what: string): Unusable {
  if (error instanceof UnusableBlobs) return unusable(error.message)
  const reason = toSentence(`${what} cannot be read: ${messageOf(error)}`)
  return unusable(reason, error instanceof OverLimit ? 'over-limit' : 'unusable')
}
