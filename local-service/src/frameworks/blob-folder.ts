import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote, toSentence } from '../text.ts'

// The folder with the blobs that the shards of a run leave. A blob is what the reporter `blob` of the framework writes. Messages call it a
// blob report, as the pages of the frameworks do.

/** The blobs cannot be merged. The message is one or more sentences. */
export class UnusableBlobs extends Error {}

/** What the service knows of the blobs before the framework merges them. */
export interface Blobs {
  /** The folder that the framework merges. */
  readonly folder: string
  /** Why the whole fails although no test did, as sentences. */
  readonly problems: readonly string[]
  /** What the log says. */
  readonly remark?: string | undefined
  /** The blobs of Vitest that have no coverage. */
  readonly withoutCoverage?: readonly string[]
  /** The folders of Playwright's tests on the machines of the shards. */
  readonly roots?: readonly string[]
}

export interface BlobFolder {
  readonly folder: string
  /** How the user named the folder. */
  readonly merge: string
}

export type OnFile = (file: string) => void

/** Throws UnusableBlobs. `onFile` gets the name of each file before it is read. */
export async function readBlobs<Blob>(
  { folder, merge }: BlobFolder,
  extension: '.json' | '.zip',
  read: (path: string, file: string) => Promise<Blob>,
  onFile: OnFile,
): Promise<Blob[]> {
  const theFolder = `The folder ${quote(merge)}`
  const files = await readdir(folder).catch((error: unknown) => {
    const next = 'Download the reports of all shards into it.'
    throw new UnusableBlobs(`${theFolder} cannot be read: ${toSentence(messageOf(error))} ${next}`)
  })
  const found = files.filter((file) => file.endsWith(extension)).sort()
  if (found.length === 0)
    throw new UnusableBlobs(
      `${theFolder} has no blob report (*${extension}). Upload the report of each shard, also if its tests failed, and download all of them directly into it, with "merge-multiple: true".`,
    )
  const other = files.find((file) => !found.includes(file))
  // Vitest fails at any other file, and does not name it. Playwright ignores it.
  if (other !== undefined && extension === '.json')
    throw new UnusableBlobs(`${theFolder} has ${quote(other)} beside the reports. Leave it out.`)
  const blobs: Blob[] = []
  for (const file of found) {
    onFile(file)
    const path = join(folder, file)
    // Whoever opens a named pipe may wait for ever, and nothing can end the thread meanwhile.
    const status = await stat(path).catch(() => undefined)
    if (!status?.isFile())
      throw new UnusableBlobs(`${theFolder} has ${quote(file)}, which is no regular file. Leave it out.`)
    const blob = await read(path, file).catch((error: unknown) => {
      const next = 'If it is the report of a shard, run this shard again. Otherwise, leave it out.'
      const why = toSentence(messageOf(error))
      throw new UnusableBlobs(`${theFolder} has ${quote(file)}, which is no blob report: ${why} ${next}`)
    })
    blobs.push(blob)
  }
  return blobs
}
