import { type Dirent, existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openPromise } from 'yauzl'
import { fieldsOf, parseJson } from '../../../src/text/json.ts'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote } from '../text.ts'
import { stringOf } from './report-reader.ts'

// The blob reports that the shards of a run leave. The frameworks merge them without a question, also if one is missing.

export interface BlobReport {
  readonly file: string
  readonly shard?: Shard | undefined
  /** Those of Vitest. */
  readonly testFiles: readonly TestFile[]
  readonly hasCoverage: boolean
}

export interface Shard {
  /** The name of the file without the number. One folder can hold the shards of several systems. Undefined without a number. */
  readonly set: string | undefined
  readonly index: number
  readonly total: number
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

/** A folder of blob reports that cannot be merged. The message is the rest of a sentence that begins with the folder. */
export class UnusableReports extends Error {}

/** Vitest fails at whatever else is in the folder, and does not name it. Playwright ignores it. */
const FORMATS = {
  vitest: { extension: '.json', stray: /^/, read: readVitestBlob },
  playwright: { extension: '.zip', stray: /(?:report|blob).*\.json$/, read: readPlaywrightBlob },
}

/** Reads what the merge does not check. Throws UnusableReports. */
export async function readBlobs(folder: string, framework: keyof typeof FORMATS): Promise<BlobReport[]> {
  const { extension, stray, read } = FORMATS[framework]
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new UnusableReports(`cannot be read: ${messageOf(error)}. Download the reports of all shards into it`)
  })
  const isReport = (entry: Dirent) => !entry.isDirectory() && entry.name.endsWith(extension)
  const files = entries.filter(isReport).map(({ name }) => name)
  if (files.length === 0)
    throw new UnusableReports(
      `has no blob report (*${extension}). Upload the report of each shard, also if its tests failed, and download all of them directly into it, with "merge-multiple: true"`,
    )
  const wrong = entries.find((entry) => !isReport(entry) && stray.test(entry.name))
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
  return Promise.all(files.sort().map(readNamed))
}

/**
 * The file has the format of `flatted`: an array, in which a string stands for the element with this number. To resolve all
 * of them would take long. Only the file's name, such as `blob-2-4.json`, says that it is shard 2 of 4. A date is no shard.
 */
async function readVitestBlob(path: string, file: string): Promise<BlobReport> {
  const elements: unknown = JSON.parse(await readFile(path, 'utf8'))
  if (!Array.isArray(elements) || !Array.isArray(elements[0])) throw new Error('it is JSON of another kind')
  const at = (value: unknown) => (typeof value === 'string' ? elements[Number(value)] : value)
  const [version, modules, , third, fourth] = elements[0].map(at)
  if (typeof version !== 'string') throw new Error('it is JSON of another kind')
  const coverage = Number.parseInt(version, 10) < 4 ? fourth : third
  const [, set = '', index, total, label = ''] = /^(.*?)-?(?<!\d|\d{4}-)(\d+)-(\d+)((?:-\D.*)?)\.json$/.exec(file) ?? []
  return {
    file,
    shard: toShard(set + label, Number(index), Number(total)),
    testFiles: Array.isArray(modules) ? modules.map(toTestFile) : [],
    hasCoverage: coverage !== null && coverage !== undefined,
  }

  function toTestFile(module: unknown): TestFile {
    const { id, filepath, name, result } = fieldsOf(at(module))
    const hasFailed = at(fieldsOf(at(result)).state) === 'fail'
    return { id: stringOf(at(id)), path: stringOf(at(filepath)), name: stringOf(at(name)), hasFailed }
  }
}

/** The first line of `report.jsonl` says which shard it is. */
async function readPlaywrightBlob(path: string, file: string): Promise<BlobReport> {
  const { params } = fieldsOf(parseJson(await readFirstLine(path)))
  const { current, total } = fieldsOf(fieldsOf(params).shard)
  return { file, shard: toShard(setInName(file, current, total), current, total), testFiles: [], hasCoverage: false }
}

/** Shards belong together if their names are the same without the number of the shard. */
export function setInName(file: string, index: unknown, total: unknown): string | undefined {
  const alone = (number: unknown) => `(?<![a-z\\d])0*${number}(?![a-z\\d])`
  const places = [
    // `shard-2-4.zip`, `shard-2-of-4.zip`
    `${alone(index)}(?=\\W(?:of\\W)?${alone(total)})`,
    // `report-4b2c1d3-2.zip`, in which a hash of the filters comes first
    `${alone(index)}(?!.*${alone(index)})`,
    // `shard2.zip`
    `(?<!\\d)0*${index}(?!\\d)`,
  ]
  const place = places.map((one) => new RegExp(one, 'i')).find((one) => one.test(file))
  return place && file.replace(place, '').replace(/\W*\.zip$/, '')
}

/** A matrix of GitHub has at most 256 jobs. A higher number is a date, for example. */
const MOST_SHARDS = 256

function toShard(set: string | undefined, index: unknown, total: unknown): Shard | undefined {
  if (typeof index !== 'number' || typeof total !== 'number') return undefined
  return index >= 1 && index <= total && total <= MOST_SHARDS ? { set, index, total } : undefined
}

async function readFirstLine(path: string): Promise<string> {
  const zip = await openPromise(path)
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== 'report.jsonl') continue
      const input = await zip.openReadStreamPromise(entry)
      for await (const line of createInterface({ input }).on('close', () => input.destroy())) return line
    }
    throw new Error('it has no report.jsonl')
  } finally {
    zip.close()
  }
}

/**
 * Vitest finds a test only by its absolute path. If shards ran in a folder with another path, such as in a container, this copies
 * all reports to a new folder, with the paths of this folder in them. Returns the folder to merge. Throws UnusableReports.
 */
export async function withPathsOf(
  root: string,
  folder: string,
  reports: readonly BlobReport[],
  newFolder: string,
): Promise<string> {
  const others = reports.map((report) => ({ ...report, other: findOtherRoot(report, root) }))
  if (others.every(({ other }) => other === undefined)) return folder
  await mkdir(newFolder)
  for (const { file, other } of others) {
    const text = await readFile(join(folder, file), 'utf8')
    const own = other === undefined ? text : text.replaceAll(inJson(`${other}/`), inJson(`${root}/`))
    await writeFile(join(newFolder, file), own)
  }
  return newFolder
}

function findOtherRoot({ file, testFiles }: BlobReport, root: string): string | undefined {
  const paths = testFiles.map(({ path }) => path)
  if (paths.length === 0 || paths.some((path) => path.startsWith(`${root}/`))) return undefined
  const found = paths.map((path) => rootOf(path, root)).find((other) => other !== undefined)
  if (found !== undefined) return found
  throw new UnusableReports(
    `has a report, ${quote(file)}, of ${quote(paths[0])} and others, which are not in ${root}. Merge at the commit and in the folder of the shards`,
  )
}

/** The end of the path that is there below `root` too. What is before it is the other root, but never the root of the machine. */
function rootOf(path: string, root: string): string | undefined {
  const parts = path.split('/')
  const length = parts.findIndex((_, index) => index > 1 && existsSync(join(root, ...parts.slice(index))))
  return length === -1 ? undefined : parts.slice(0, length).join('/')
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Which shards have no report, as the rest of a sentence. Undefined if all are there. Throws UnusableReports. */
export function whyIncomplete(reports: readonly Pick<BlobReport, 'file' | 'shard'>[]): string | undefined {
  const shards = reports.flatMap(({ file, shard }) => (shard === undefined ? [] : [{ file, ...shard }]))
  const sets = Map.groupBy(shards, ({ set, total }) => JSON.stringify([set, total]))
  const missing = [...sets.values()].flatMap((ofSet) => {
    const { set, total = 0 } = ofSet[0] ?? {}
    const ofWhich = sets.size > 1 && set !== undefined ? ` of ${quote(set)}` : ''
    return Array.from({ length: total }, (_, at) => at + 1).flatMap((index) => {
      const files = ofSet.filter((shard) => shard.index === index).map(({ file }) => quote(file))
      if (files.length > 1 && set !== undefined)
        throw new UnusableReports(
          `has two reports of shard ${index}/${total}: ${files.join(' and ')}. Leave the older one out`,
        )
      return files.length > 0 ? [] : [`${index}/${total}${ofWhich}`]
    })
  })
  return missing.length === 0
    ? undefined
    : `the report of shard ${missing.join(', ')} is missing. The job may have been cancelled, or may have failed before a report was written or uploaded`
}

/** Only the name of Vitest's file says which shard it is, and the jobs may all have run the same one. Throws UnusableReports. */
export function refuseEqual(reports: readonly Pick<BlobReport, 'file' | 'shard' | 'testFiles'>[]): void {
  const shards = reports.filter(({ shard, testFiles }) => shard !== undefined && testFiles.length > 0)
  const equal = Map.groupBy(shards, ({ shard, testFiles }) =>
    JSON.stringify([shard?.set, shard?.total, testFiles.map(({ id }) => id).sort()]),
  )
  const twice = [...equal.values()].find(({ length }) => length > 1)
  if (twice === undefined) return
  throw new UnusableReports(
    `has reports of the same test files: ${twice.map(({ file }) => quote(file)).join(', ')}. In each job of a shard, give --shard the number of this job`,
  )
}

/** Which failures Vitest may lose, as the rest of a sentence: those of test files that have another result in another report. */
export function whyLost(reports: readonly BlobReport[]): string | undefined {
  const results = reports.flatMap(({ file, testFiles }) => testFiles.map((one) => ({ ...one, report: file })))
  const lost = [...Map.groupBy(results, ({ id }) => id).values()].flatMap((ofFile) => {
    const failed = ofFile.find(({ hasFailed }) => hasFailed)
    // In one report, Vitest 3 gives a file with types to check two results of one id, and keeps both.
    const other = ofFile.find(({ hasFailed, report }) => !hasFailed && report !== failed?.report)
    return failed === undefined || other === undefined ? [] : [{ failed, other }]
  })
  const [first] = lost
  if (first === undefined) return undefined
  const { failed, other } = first
  const more = lost.length > 1 ? `, as for ${lost.length - 1} more` : ''
  return `${quote(failed.name)} failed in ${quote(failed.report)} and not in ${quote(other.report)}, and Vitest keeps only one result of a test file${more}. Merge such reports in folders of their own, each with a gate of its own. With Vitest 5, give the shards of each system a VITEST_BLOB_LABEL instead`
}
