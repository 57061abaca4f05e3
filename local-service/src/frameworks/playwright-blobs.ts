import { text } from 'node:stream/consumers'
import { openPromise } from 'yauzl'
import { type BlobFolder, type Blobs, type OnFile, readBlobs } from './blob-folder.ts'
import { type CountedBlob, remarkOnUncounted, whyIncomplete } from './shards.ts'

// What Playwright does not check when it merges blob reports.

interface PlaywrightBlob extends CountedBlob {
  /** The folder of the tests on the machine of the shard. */
  readonly root: string
}

/** Throws UnusableBlobs. */
export async function checkPlaywrightBlobs({ folder, merge }: BlobFolder, onFile: OnFile): Promise<Blobs> {
  const blobs = await readBlobs({ folder, merge }, '.zip', readPlaywrightBlob, onFile)
  const roots = [...new Set(blobs.map(({ root }) => root))]
  const remark = remarkOnUncounted(blobs, 'Only the report of a job with --shard says it.')
  const incomplete = whyIncomplete(blobs)
  return { folder, problems: incomplete === undefined ? [] : [incomplete], remark, roots }
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

async function readReportIn(path: string): Promise<string> {
  const zip = await openPromise(path)
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === REPORT_ENTRY) return await text(await zip.openReadStreamPromise(entry))
    }
    throw new Error(`it has no ${REPORT_ENTRY}`)
  } finally {
    zip.close()
  }
}
