import { text } from 'node:stream/consumers'
import { openPromise } from 'yauzl'
import { quoteAll } from '../text.ts'
import { type BlobFormat, type OnFile, readBlobs } from './blob-folder.ts'
import { type Counted, whyIncomplete } from './shards.ts'

// What Playwright does not check when it merges blob reports.

interface PlaywrightBlob extends Counted {
  /** The folder of the tests on the machine of the shard. */
  readonly root: string
}

/** Throws UnusableReports. */
export async function checkPlaywrightBlobs({ folder }: { folder: string }, onFile: OnFile) {
  const reports = await readBlobs(folder, PLAYWRIGHT_BLOBS, onFile)
  return { problems: whyIncomplete(reports), roots: [...new Set(reports.map(({ root }) => root))] }
}

export const PLAYWRIGHT_BLOBS: BlobFormat<PlaywrightBlob> = {
  extension: '.zip',
  isAlone: false,
  read: readPlaywrightBlob,
}

/** The first line of `report.jsonl` says which shard it is, and of which system. The second one has the configuration. */
async function readPlaywrightBlob(path: string, file: string): Promise<PlaywrightBlob> {
  const lines = (await readReportIn(path)).split('\n').filter((line) => line !== '')
  // Playwright does not name the file with a line that it cannot read.
  for (const line of lines) JSON.parse(line)
  const [first = '', second = ''] = lines
  const { method, params } = JSON.parse(first)
  if (method !== 'onBlobReportMetadata') throw new Error(`its ${REPORT_ENTRY} does not begin as those of Playwright do`)
  const { shard, userAgent } = params
  // The text around the system has the versions of Playwright and Node, which may differ between the jobs of one matrix.
  const set = /\(.*\)/.exec(userAgent)?.[0] ?? ''
  const root = JSON.parse(second).params.config.rootDir
  return { file, shard: shard && { set, index: shard.current, total: shard.total }, root }
}

const REPORT_ENTRY = 'report.jsonl'

/**
 * Playwright unpacks all reports into one folder, so an entry of any other name could replace the report of another shard. It also
 * reads an attachment with this ending as a report.
 */
async function readReportIn(path: string): Promise<string> {
  const zip = await openPromise(path)
  try {
    const names: string[] = []
    let report = ''
    for await (const entry of zip.eachEntry()) {
      const { fileName } = entry
      if (fileName.endsWith('.jsonl') || !fileName.startsWith('resources/')) names.push(fileName)
      if (fileName === REPORT_ENTRY) report = await text(await zip.openReadStreamPromise(entry))
    }
    if (names.join() !== REPORT_ENTRY)
      throw new Error(`beside its attachments, it must have only ${REPORT_ENTRY}, but it has ${quoteAll(names)}`)
    return report
  } finally {
    zip.close()
  }
}
