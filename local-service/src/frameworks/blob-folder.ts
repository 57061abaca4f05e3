import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote } from '../text.ts'

// The folder with the blob reports that the shards of a run leave.

/** The reports cannot be merged. The message is the rest of a sentence that begins with the folder. */
export class UnusableReports extends Error {}

export interface BlobFormat<Report> {
  /** With the dot. */
  readonly extension: string
  /** Names of what must not be beside the reports. */
  readonly stray: RegExp
  read(path: string, file: string): Promise<Report>
}

export type OnFile = (file: string) => void

/** Throws UnusableReports. `onFile` gets the name of each file before it is read. */
export async function readBlobs<Report>(
  folder: string,
  { extension, stray, read }: BlobFormat<Report>,
  onFile: OnFile = () => undefined,
): Promise<Report[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new UnusableReports(`cannot be read: ${messageOf(error)}. Download the reports of all shards into it`)
  })
  // The framework would follow a link, and would wait for a named pipe without end.
  const reports = entries.filter((entry) => entry.isFile() && entry.name.endsWith(extension))
  if (reports.length === 0)
    throw new UnusableReports(
      `has no blob report (*${extension}). Upload the report of each shard, also if its tests failed, and download all of them directly into it, with "merge-multiple: true"`,
    )
  const wrong = entries.find((entry) => !reports.includes(entry) && stray.test(entry.name))
  if (wrong !== undefined)
    throw new UnusableReports(
      `has ${quote(wrong.name)} beside the reports. Leave it out. Reports of another framework need a folder of their own`,
    )
  const readNamed = (file: string) =>
    read(join(folder, file), file).catch((error: unknown) => {
      const next = 'If it is the report of a shard, run this shard again. Otherwise, leave it out'
      const why = messageOf(error).replace(/\.$/, '')
      throw new UnusableReports(`has a file that is no blob report, ${quote(file)}: ${why}. ${next}`)
    })
  const blobs: Report[] = []
  for (const { name } of reports.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    onFile(name)
    blobs.push(await readNamed(name))
  }
  return blobs
}
