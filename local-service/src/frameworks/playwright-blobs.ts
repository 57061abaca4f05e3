import { text } from 'node:stream/consumers'
import { openPromise } from 'yauzl'
import { type BlobFolder, type Blobs, type OnFile, readBlobs } from './blob-folder.ts'
import { type CountedBlob, remarkOnUncounted, whyIncomplete } from './shards.ts'

// What Playwright does not check when it merges blob reports.

interface PlaywrightBlob extends CountedBlob {
  /** The folder of the tests on the machine of the shard. */
  readonly root: string
  /** The names of the projects whose tests this shard ran. */
  readonly projects: readonly string[]
}

/** Throws UnusableBlobs. */
export async function checkPlaywrightBlobs({ folder, merge }: BlobFolder, onFile: OnFile): Promise<Blobs> {
  const blobs = await readBlobs({ folder, merge }, '.zip', readPlaywrightBlob, onFile)
  const roots = [...new Set(blobs.map(({ root }) => root))]
  const remark = remarkOnUncounted(blobs, 'Only the report of a job with --shard says it.')
  const incomplete = whyIncomplete(isPerProject(blobs) ? blobs.map(withNameAsSet) : blobs)
  return { folder, problems: incomplete === undefined ? [] : [incomplete], remark, roots }
}

/**
 * Whether each job ran the shard of a project, as with `--project=chrome --shard=1/2`. Then each project is a set of its own. Otherwise, shard 1/2 of
 * Chrome and shard 2/2 of Firefox would look like a whole. In the blobs, nothing says whether a job had `--project`: without it, shard 1/2 may also
 * have only tests of Chrome. But with it, Playwright writes the project into the name of the file, as in `report-chrome-1.zip`.
 */
function isPerProject(blobs: readonly PlaywrightBlob[]): boolean {
  const inName = (text: string) => `-${text.replace(/[^\p{L}\p{N}]+/gu, '-')}-`
  // One of the projects is enough, because a project on which another depends is not in the name.
  const isNamed = ({ file, projects }: PlaywrightBlob) =>
    projects.some((name) => name !== '' && inName(file).includes(inName(name)))
  // A shard may have no tests.
  const withTests = blobs.filter(({ projects }) => projects.length > 0)
  return withTests.length > 0 && withTests.every(isNamed)
}

function withNameAsSet({ file, shard }: PlaywrightBlob): CountedBlob {
  return { file, shard: shard && { ...shard, set: `${shard.set} ${file.replace(/\d/g, '')}` } }
}

/** The first line of `report.jsonl` says which shard it is, and of which system. The second one has the configuration. */
async function readPlaywrightBlob(path: string, file: string): Promise<PlaywrightBlob> {
  const lines = (await readReportIn(path)).split('\n').filter((line) => line !== '')
  // All lines are parsed, because Playwright does not name the file with a line that it cannot read.
  const projects = lines.flatMap((line) => {
    const { method, params } = JSON.parse(line)
    return method === 'onProject' ? [params.project.name] : []
  })
  const [first = '', second = ''] = lines
  const { method, params } = JSON.parse(first)
  if (method !== 'onBlobReportMetadata') throw new Error(`its ${REPORT_ENTRY} does not begin as those of Playwright do`)
  const { shard, userAgent } = params
  // The text around the system has the versions of Playwright and Node, which may differ between the jobs of one matrix.
  const set = /\(.*\)/.exec(userAgent)?.[0] ?? ''
  const root = JSON.parse(second).params.config.rootDir
  return { file, shard: shard && { set, index: shard.current, total: shard.total }, root, projects }
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
