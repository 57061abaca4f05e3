import { resolve } from 'node:path'
import { wordsOf } from '../machine/script.ts'
import { quote } from '../text.ts'
import type { Blobs } from './blob-folder.ts'
import type { CallOptions, Framework } from './framework.ts'
import type { ResultReader } from './reading.ts'
import { switchesOn } from './refused-settings.ts'
import { isBad, type Report } from './report.ts'
import type { Unusable } from './unusable.ts'

// The framework's own merge also exits with 0 if a shard is missing, or if a blob has no coverage. That of Playwright exits with 0
// whatever the tests did. This file finds these problems, because they must fail the run.

/**
 * Reads the blobs of the shards before the framework merges them. Undefined if the run is no merge. If blobs need other paths, their copies
 * are put into `copiesFolder`, which does not exist yet.
 */
export async function readShards(
  {
    merge,
    command = [],
    args,
    folders,
    copiesFolder,
  }: Pick<CallOptions, 'merge' | 'command' | 'args' | 'folders'> & { readonly copiesFolder: string },
  framework: Framework['name'],
  reader: ResultReader,
): Promise<Blobs | Unusable | undefined> {
  if (merge === undefined) return undefined
  const folder = resolve(folders.folder, merge)
  const passesWithNoTests = [...wordsOf(command).words, ...args].some(switchesOn('passwithnotests'))
  const name = framework === 'playwright' ? 'playwrightBlobs' : 'vitestBlobs'
  return reader.read(name, { folder, merge, root: folders.root, copiesFolder, passesWithNoTests })
}

/** Adds to the report of a merge why it must fail although no test failed, and the remark for the log. */
export function withProblems(blobs: Blobs, report: Report): Report {
  const problems = [...blobs.problems, whyWholeFailed(blobs, report)].filter((problem) => problem !== undefined)
  return { ...report, problem: report.problem ?? (problems.join(' ') || undefined), remark: blobs.remark }
}

/** A problem that only the merged report shows, as sentences. */
function whyWholeFailed({ withoutCoverage = [] }: Blobs, report: Report): string | undefined {
  const { testCases, errors, hasCoverage, status } = report
  if (hasCoverage && withoutCoverage.length > 0)
    return `The coverage of the whole is not known, because these reports have none: ${withoutCoverage.join(', ')}. Give each shard --coverage and --coverage.thresholds=false.`
  // The command of Playwright exits with 0 whatever the tests did. The status also counts the set-up and the time limit of each shard.
  if (status === undefined || status === 'passed' || testCases.some(isBad)) return undefined
  return errors.length > 0 ? 'A shard reported an error.' : `The status of the whole run is ${quote(status)}.`
}
