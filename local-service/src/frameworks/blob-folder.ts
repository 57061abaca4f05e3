import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote } from '../text.ts'

// The folder with the blobs that the shards of a run leave. A blob is what the reporter `blob` of the framework writes. Messages call it a
// blob report, as the pages of the frameworks do.

/** The reports cannot be merged. The message is the rest of a sentence that begins with the folder. */
export class UnusableReports extends Error {}

/** What the service knows of the blobs before the framework merges them. */
export interface Blobs {
  /** The folder that the framework merges. */
  readonly folder: string
  /** Why the whole fails although no test did, as rests of sentences. */
  readonly problems: readonly string[]
  /** What the log says. */
  readonly remark?: string | undefined
  /** The blobs of Vitest that have no coverage. */
  readonly withoutCoverage?: readonly string[]
  /** The folders of Playwright's tests on the machines of the shards. */
  readonly roots?: readonly string[]
}

export type OnFile = (file: string) => void

/** Throws UnusableReports. `onFile` gets the name of each file before it is read. */
export async function readBlobs<Blob>(
  folder: string,
  extension: '.json' | '.zip',
  read: (path: string, file: string) => Promise<Blob>,
  onFile: OnFile,
): Promise<Blob[]> {
  const files = await readdir(folder).catch((error: unknown) => {
    throw new UnusableReports(`cannot be read: ${messageOf(error)}. Download the reports of all shards into it`)
  })
  const found = files.filter((file) => file.endsWith(extension)).sort()
  if (found.length === 0)
    throw new UnusableReports(
      `has no blob report (*${extension}). Upload the report of each shard, also if its tests failed, and download all of them directly into it, with "merge-multiple: true"`,
    )
  const other = files.find((file) => !found.includes(file))
  // Vitest fails at any other file, and does not name it. Playwright ignores it.
  if (other !== undefined && extension === '.json')
    throw new UnusableReports(`has ${quote(other)} beside the reports. Leave it out`)
  const blobs: Blob[] = []
  for (const file of found) {
    onFile(file)
    const path = join(folder, file)
    // Whoever opens a named pipe may wait for ever, and nothing can end the thread meanwhile.
    const status = await stat(path).catch(() => undefined)
    if (!status?.isFile()) throw new UnusableReports(`has ${quote(file)}, which is no regular file. Leave it out`)
    const blob = await read(path, file).catch((error: unknown) => {
      const next = 'If it is the report of a shard, run this shard again. Otherwise, leave it out'
      const why = messageOf(error).replace(/\.$/, '')
      throw new UnusableReports(`has a file that is no blob report, ${quote(file)}: ${why}. ${next}`)
    })
    blobs.push(blob)
  }
  return blobs
}
