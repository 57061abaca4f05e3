import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { folderReplacer } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import { type BlobFolder, type Blobs, type OnFile, readBlobs, UnusableBlobs } from './blob-folder.ts'
import { type CountedBlob, remarkOnUncounted, type Shard, whyIncomplete } from './shards.ts'

// What Vitest does not check when it merges blob reports.

interface VitestBlob extends CountedBlob {
  readonly testFiles: readonly TestFile[]
  readonly hasCoverage: boolean
}

interface TestFile {
  /** Vitest keeps only one result of two test files that have the same. */
  readonly id: string
  /** The absolute path on the machine of the shard. */
  readonly path: string
  /** The path from the root of the shard. */
  readonly name: string
  readonly hasFailed: boolean
}

interface VitestBlobs extends BlobFolder {
  readonly root: string
  /** For the copies of blobs that need other paths. It does not exist yet. */
  readonly copiesFolder: string
  /** Whether the merge has the argument `--passWithNoTests`. Then a blob may have no test file. */
  readonly passesWithNoTests: boolean
}

/** Throws UnusableBlobs. */
export async function checkVitestBlobs(
  { folder, merge, root, copiesFolder, passesWithNoTests }: VitestBlobs,
  onFile: OnFile,
): Promise<Blobs> {
  const blobs = await readBlobs({ folder, merge }, '.json', readVitestBlob, onFile)
  refuseEqual(blobs)
  const empty = blobs.find(({ testFiles }) => testFiles.length === 0)
  if (empty !== undefined && !passesWithNoTests) {
    throw new UnusableBlobs(
      `The report ${quote(empty.file)} has no test file. The global setup of the shard may have failed, or the shard has no tests. Give fewer shards, or add --passWithNoTests to the command of the shards and to the arguments of the merge.`,
    )
  }
  return {
    folder: await withPathsOf(root, folder, blobs, copiesFolder),
    problems: [whyIncomplete(blobs), whyLost(blobs)].filter((problem) => problem !== undefined),
    remark: remarkOnUncounted(blobs, 'A name such as blob-1-4.json says it.'),
    withoutCoverage: blobs.filter(({ hasCoverage }) => !hasCoverage).map(({ file }) => quote(file)),
  }
}

/**
 * The file has the format of `flatted`: an array, in which a string stands for the element with this number. To resolve all
 * of them would take long. Only the file's name, such as `blob-2-4.json`, says that it is shard 2 of 4.
 */
async function readVitestBlob(path: string, file: string): Promise<VitestBlob> {
  const elements = JSON.parse(await readFile(path, 'utf8'))
  if (!Array.isArray(elements?.[0])) throw new Error('it is JSON of another kind')
  const at = (value: unknown) => (typeof value === 'string' ? elements[Number(value)] : value)
  const [version, modules, , coverageSince4, coverageOf3] = elements[0].map(at)
  const coverage = Number.parseInt(version, 10) < 4 ? coverageOf3 : coverageSince4
  const toTestFile = (module: unknown): TestFile => {
    const { id, filepath, name, result } = at(module)
    return { id: at(id), path: at(filepath), name: at(name), hasFailed: at(at(result)?.state) === 'fail' }
  }
  return { file, shard: shardInName(file), testFiles: modules.map(toTestFile), hasCoverage: Boolean(coverage) }
}

/**
 * How people write "2 of 4" in a name, the surest form first. Pairs overlap: in `20-2-4`, both `20-2` and `2-4` are tried. So the second number
 * is in a lookahead.
 */
const FORMS_OF_SHARD = ['-?of-?', '-', '_', '\\.'].map(
  (between) => new RegExp(`(?<!\\d)(\\d+)(?=${between}(\\d+)(?![a-z\\d]))`, 'gi'),
)
/** A date, also with a time, such as `2026-11-28T10-30`. */
const DATE = /(?<!\d)\d{4}([-_.])\d\d\1\d\d(?:[T_-]\d\d[-_.]\d\d)?(?!\d)/gi

/** A matrix of GitHub has at most 256 jobs. */
const MOST_SHARDS = 256

/**
 * Which shard a name says. The rest of the name without its digits is the set, so `linux` and `windows` are two sets, but the names of two
 * attempts are one.
 *
 * | the name | the shard |
 * | --- | --- |
 * | `blob-2-of-4-v1.6.json` | 2 of 4, because the form with `of` is surer than the one with a point |
 * | `blob-20-2-4.json` | 2 of 4, because 20 is more than 2 |
 * | `blob-e12-34ab.json` | none, because a number with a letter behind it is part of an id |
 * | `blob-2026-11-28.json` | none, because it is a date |
 * | `blob-11-2026.json` | none, because there are never so many shards |
 */
export function shardInName(file: string): Shard | undefined {
  const name = file.replace(/\.json$/, '').replace(DATE, '')
  const set = name.replace(/\d+/g, '')
  for (const form of FORMS_OF_SHARD) {
    const pairs = [...name.matchAll(form)].map(([, index, total]) => ({ index: Number(index), total: Number(total) }))
    const shard = pairs.findLast(({ index, total }) => index >= 1 && index <= total && total <= MOST_SHARDS)
    if (shard !== undefined) return { set, ...shard }
  }
  return undefined
}

/**
 * Vitest finds a test only by its absolute path. If shards ran in a folder with another path, such as in a container, this copies
 * all blobs to a new folder, with the paths of this folder in them. Returns the folder to merge. Throws UnusableBlobs.
 */
async function withPathsOf(root: string, folder: string, blobs: readonly VitestBlob[], copiesFolder: string) {
  const others = blobs.flatMap((blob) => findOtherRoot(blob, root) ?? [])
  if (others.length === 0) return folder
  const replace = folderReplacer(new Map(others.map((other) => [inJson(other), inJson(root)])))
  await mkdir(copiesFolder)
  for (const { file } of blobs) {
    await writeFile(join(copiesFolder, file), replace(await readFile(join(folder, file), 'utf8')))
  }
  return copiesFolder
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function findOtherRoot({ file, testFiles }: VitestBlob, root: string): string | undefined {
  const paths = testFiles.map(({ path }) => path)
  if (paths.length === 0 || paths.some((path) => path.startsWith(`${root}/`))) return undefined
  for (const path of paths) {
    const parts = path.split('/')
    // Looks for the longest end of the path that is there below `root` too. What is before it is the other root. Index 1 would make `/` the
    // other root, so the search begins at index 2.
    const firstOwn = parts.findIndex((_, index) => index >= 2 && existsSync(join(root, ...parts.slice(index))))
    if (firstOwn !== -1) return parts.slice(0, firstOwn).join('/')
  }
  throw new UnusableBlobs(
    `The report ${quote(file)} is of ${quote(paths[0])} and others, which are not in ${root}. Merge at the commit and in the folder of the shards.`,
  )
}

/**
 * If each job had `--shard=1/4`, the blobs have different names and the same test files. `whyIncomplete` counts names, so it cannot see this.
 * Throws UnusableBlobs.
 */
function refuseEqual(blobs: readonly VitestBlob[]): void {
  const withTestFiles = blobs.filter(({ testFiles }) => testFiles.length > 0)
  const equal = Map.groupBy(withTestFiles, ({ shard, testFiles }) =>
    JSON.stringify([shard?.set, shard?.total, testFiles.map(({ id }) => id).sort()]),
  )
  // Blobs with the same number may have the same test files: they are two attempts, or two systems that their names do not tell apart. Blobs
  // with different numbers may not.
  const wrong = [...equal.values()].find((ones) => new Set(ones.map(({ shard }) => shard?.index)).size > 1)
  if (wrong === undefined) return
  throw new UnusableBlobs(
    `These reports are of the same test files: ${wrong.map(({ file }) => quote(file)).join(', ')}. In each job of a shard, give --shard the number of this job.`,
  )
}

/**
 * Vitest keeps only one result of a test file. If a test file failed in one blob and not in another one, Vitest may lose the failure.
 * This names the first such test file, in whole sentences.
 */
function whyLost(blobs: readonly VitestBlob[]): string | undefined {
  const results = blobs.flatMap(({ file, testFiles }) => testFiles.map((one) => ({ ...one, blob: file })))
  for (const resultsOfFile of Map.groupBy(results, ({ id }) => id).values()) {
    const failed = resultsOfFile.find(({ hasFailed }) => hasFailed)
    // If Vitest 3 tests a file and checks its types, one blob has two results with the same id. The merge keeps both of them.
    const other = resultsOfFile.find(({ hasFailed, blob }) => !hasFailed && blob !== failed?.blob)
    if (failed === undefined || other === undefined) continue
    return `The test file ${quote(failed.name)} failed in ${quote(failed.blob)} and not in ${quote(other.blob)}, and Vitest keeps only one result of a test file. Merge such reports in folders of their own, each with a gate of its own. With Vitest 5, give the shards of each system a VITEST_BLOB_LABEL instead.`
  }
  return undefined
}
