import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { TestedFolders } from '../machine/files.ts'
import { checkPlaywrightBlobs, checkVitestBlobs } from './blob-reports.ts'
import { fitResults } from './fit-results.ts'
import { type JunitReports, readJunitReports } from './junit-reports.ts'
import { toReport } from './report.ts'
import { ReportReader } from './report-reader.ts'

// The thread in which the service reads what tests wrote. `reading.ts` starts it, and ends it if it takes too much.

/** By file. Each goes on where it was when it counted the tests so far. */
const reporters = new Map<string, ReportReader>()

function reporterOf(file: string): ReportReader {
  const reader = reporters.get(file) ?? new ReportReader(file)
  reporters.set(file, reader)
  return reader
}

/** What the service's reporter wrote. `finished` is its last event. */
function readReport({ file, folders }: { file: string; folders: TestedFolders }) {
  const events = reporterOf(file).readAll()
  const { status, hasCoverage } = events.finished ?? {}
  const report = toReport(events, folders)
  return { report: report && fitResults(report), finished: { status, hasCoverage } }
}

type OnFile = (file: string) => void

const READERS = {
  junit: async (input: JunitReports, onFile: OnFile) => fitResults(await readJunitReports(input, onFile)),
  vitestBlobs: checkVitestBlobs,
  playwrightBlobs: checkPlaywrightBlobs,
  progress: ({ file }: { file: string }) => reporterOf(file).readProgress(),
  report: readReport,
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
  | { readonly kind: 'failed'; readonly why: string }

const respond = (response: Response) => parentPort?.postMessage(response)

parentPort?.on('message', async ({ name, input }: Request) => {
  try {
    const read = READERS[name] as (input: unknown, onFile: OnFile) => unknown
    respond({ kind: 'read', value: await read(input, (file) => respond({ kind: 'file', file })) })
  } catch (error) {
    respond({ kind: 'failed', why: messageOf(error) })
  }
})
