import { text } from 'node:stream/consumers'
import { openPromise } from 'yauzl'
import { fieldsOf, parseJson } from '../../../src/text/json.ts'
import { quote } from '../text.ts'
import { type BlobFormat, type OnFile, readBlobs } from './blob-folder.ts'
import { stringOf } from './report-reader.ts'
import { type Counted, toShard, whyIncomplete } from './shards.ts'

// What Playwright does not check when it merges blob reports.

export interface PlaywrightBlob extends Counted {
  /** The folder of the tests on the machine of the shard. */
  readonly root: string | undefined
}

/** Throws UnusableReports. */
export async function checkPlaywrightBlobs({ folder }: { folder: string }, onFile: OnFile) {
  const reports = await readBlobs(folder, PLAYWRIGHT_BLOBS, onFile)
  return { missing: whyIncomplete(reports), roots: [...new Set(reports.flatMap(({ root }) => root ?? []))] }
}

/** Playwright ignores what else is in the folder, except a link or a pipe that ends with .zip. */
export const PLAYWRIGHT_BLOBS: BlobFormat<PlaywrightBlob> = {
  extension: '.zip',
  stray: /(?:report|blob).*\.json$|\.zip$/,
  read: readPlaywrightBlob,
}

/** The first line of `report.jsonl` says which shard it is, and of which system. */
async function readPlaywrightBlob(path: string, file: string): Promise<PlaywrightBlob> {
  const [first, second] = await readEvents(path)
  const { method, params } = fieldsOf(first)
  if (method !== 'onBlobReportMetadata') throw new Error(`its ${REPORT_ENTRY} does not begin as those of Playwright do`)
  const { shard, userAgent } = fieldsOf(params)
  const { current, total } = fieldsOf(shard)
  // The text around the system has the versions of Playwright and Node, which may differ between the jobs of one matrix.
  const system = /\(.*\)/.exec(stringOf(userAgent))?.[0] ?? ''
  const { rootDir } = fieldsOf(fieldsOf(fieldsOf(second).params).config)
  const root = typeof rootDir === 'string' ? rootDir : undefined
  return { file, shard: toShard(system, current, total), root }
}

/**
 * The first two lines. Playwright unpacks all reports into one folder, so an entry of any other name could replace the report of
 * another shard. It does not name the file with a line that it cannot read, so each line is read.
 */
async function readEvents(path: string): Promise<unknown[]> {
  const zip = await openPromise(path)
  try {
    const names: string[] = []
    let events: unknown[] = []
    for await (const entry of zip.eachEntry()) {
      names.push(entry.fileName)
      if (entry.fileName !== REPORT_ENTRY) continue
      const lines = (await text(await zip.openReadStreamPromise(entry))).split('\n').filter((line) => line !== '')
      for (const line of lines) JSON.parse(line)
      events = lines.slice(0, 2).map(parseJson)
    }
    const other = names.find((name) => name !== REPORT_ENTRY && !name.startsWith('resources/'))
    if (other !== undefined) throw new Error(`it contains ${quote(other)}`)
    const { length } = names.filter((name) => name === REPORT_ENTRY)
    if (length !== 1)
      throw new Error(length === 0 ? `it has no ${REPORT_ENTRY}` : `it has ${length} files ${REPORT_ENTRY}`)
    const attachment = names.find((name) => name !== REPORT_ENTRY && name.endsWith('.jsonl'))
    if (attachment !== undefined)
      throw new Error(`Playwright would read ${quote(attachment)} as a report. Give this attachment another ending`)
    return events
  } finally {
    zip.close()
  }
}

const REPORT_ENTRY = 'report.jsonl'
