import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { openPromise } from 'yauzl'
import { fieldsOf, parseJson } from '../../../src/text/json.ts'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote } from '../text.ts'
import { stringOf } from './report-reader.ts'
import { UnusableReports } from './unusable-reports.ts'

// The blob reports that the shards of a run leave. The frameworks merge them without a question, also if one is missing.

export interface BlobReport {
  readonly file: string
  readonly shard?: Shard | undefined
  /** Those of Vitest. */
  readonly testFiles: readonly TestFile[]
  readonly hasCoverage: boolean
  /** That of Playwright: the folder of the tests on the machine of the shard. */
  readonly root?: string | undefined
}

export interface Shard {
  /** What the shards of one run have in common. One folder can hold the shards of several systems. */
  readonly set: string
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

/** What a merge needs to know about the reports. */
export type Checked<Facts> =
  | ({ readonly kind: 'usable'; readonly missing: string | undefined } & Facts)
  /** `why` is the rest of a sentence that begins with the folder. */
  | { readonly kind: 'unusable'; readonly why: string }

type OnFile = (file: string) => void

export interface VitestFacts {
  /** The folder to merge. */
  readonly folder: string
  readonly lost: string | undefined
  readonly uncounted: string | undefined
  readonly withoutCoverage: readonly string[]
}

interface VitestBlobs {
  readonly folder: string
  readonly root: string
  /** For the reports with other paths in them. It does not exist yet. */
  readonly newFolder: string
  /** The framework's argument, if a report may be without a test file. */
  readonly passesWithNoTests: boolean
}

export function checkVitestBlobs(
  { folder, root, newFolder, passesWithNoTests }: VitestBlobs,
  onFile: OnFile,
): Promise<Checked<VitestFacts>> {
  return check(async () => {
    const reports = await readBlobs(folder, 'vitest', onFile)
    refuseEqual(reports)
    const empty = reports.find(({ testFiles }) => testFiles.length === 0)
    if (empty !== undefined && !passesWithNoTests) {
      throw new UnusableReports(
        `has a report without a single test file, ${quote(empty.file)}. The global setup of the shard may have failed, or the shard has no tests. Give fewer shards, or add --passWithNoTests to the command of the shards and to the arguments of the merge`,
      )
    }
    return {
      missing: whyIncomplete(reports),
      folder: await withPathsOf(root, folder, reports, newFolder),
      lost: whyLost(reports),
      uncounted: whyUncounted(reports),
      withoutCoverage: reports.filter((report) => !report.hasCoverage).map(({ file }) => quote(file)),
    }
  })
}

export interface PlaywrightFacts {
  /** The folders of the tests on the machines of the shards. */
  readonly roots: readonly string[]
}

export function checkPlaywrightBlobs(
  { folder }: { folder: string },
  onFile: OnFile,
): Promise<Checked<PlaywrightFacts>> {
  return check(async () => {
    const reports = await readBlobs(folder, 'playwright', onFile)
    const roots = [...new Set(reports.flatMap(({ root }) => root ?? []))]
    return { missing: whyIncomplete(reports), roots }
  })
}

async function check<Facts extends { missing: string | undefined }>(
  read: () => Promise<Facts>,
): Promise<({ kind: 'usable' } & Facts) | { kind: 'unusable'; why: string }> {
  try {
    return { kind: 'usable', ...(await read()) }
  } catch (error) {
    if (error instanceof UnusableReports) return { kind: 'unusable', why: error.message }
    throw error
  }
}

/** Vitest fails at whatever else is in the folder, and does not name it. Playwright ignores it, except a link or a pipe that ends with .zip. */
const FORMATS = {
  vitest: { extension: '.json', stray: /^/, read: readVitestBlob },
  playwright: { extension: '.zip', stray: /(?:report|blob).*\.json$|\.zip$/, read: readPlaywrightBlob },
}

/** Reads what the merge does not check. Throws UnusableReports. */
export async function readBlobs(
  folder: string,
  framework: keyof typeof FORMATS,
  onFile: OnFile = () => undefined,
): Promise<BlobReport[]> {
  const { extension, stray, read } = FORMATS[framework]
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
  const blobs: BlobReport[] = []
  for (const { name } of reports.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    onFile(name)
    blobs.push(await readNamed(name))
  }
  return blobs
}

/**
 * The file has the format of `flatted`: an array, in which a string stands for the element with this number. To resolve all
 * of them would take long. Only the file's name, such as `blob-2-4.json`, says that it is shard 2 of 4.
 */
async function readVitestBlob(path: string, file: string): Promise<BlobReport> {
  const elements: unknown = JSON.parse(await readFile(path, 'utf8'))
  if (!Array.isArray(elements) || !Array.isArray(elements[0])) throw new Error('it is JSON of another kind')
  const at = (value: unknown) => (typeof value === 'string' ? elements[Number(value)] : value)
  const [version, modules, , coverageSince4, coverageOf3] = elements[0].map(at)
  if (typeof version !== 'string') throw new Error('it is JSON of another kind')
  const coverage = Number.parseInt(version, 10) < 4 ? coverageOf3 : coverageSince4
  return {
    file,
    shard: shardInName(file),
    testFiles: Array.isArray(modules) ? modules.map(toTestFile) : [],
    hasCoverage: coverage !== null && coverage !== undefined,
  }

  function toTestFile(module: unknown): TestFile {
    const { id, filepath, name, result } = fieldsOf(at(module))
    const hasFailed = at(fieldsOf(at(result)).state) === 'fail'
    return { id: stringOf(at(id)), path: stringOf(at(filepath)), name: stringOf(at(name)), hasFailed }
  }
}

/** How people write "2 of 4" in a name, the surest form first. */
const FORMS_OF_SHARD = ['-?of-?', '-', '_', '\\.'].map(
  // The second number can be the first of the next pair: in `node-20-2-4`, 20-2 is no shard, and 2-4 is.
  // A letter behind the second number is of an id: `e12-34ab` is no shard.
  (between) => new RegExp(`(?<!\\d)(\\d+)(?=${between}(\\d+)(?![a-z\\d]))`, 'gi'),
)
/** A date, also with a time, such as `2026-11-28T10-30`. */
const DATE = /(?<!\d)\d{4}([-_.])\d\d\1\d\d(?:[T_-]\d\d[-_.]\d\d)?(?!\d)/gi

/** The rest of the name without its digits is the set, so `linux` and `windows` are two sets, but the names of two attempts are one. */
export function shardInName(file: string): Shard | undefined {
  const name = file.replace(/\.json$/, '').replace(DATE, '')
  const set = name.replace(/\d+/g, '')
  for (const form of FORMS_OF_SHARD) {
    const pairs = [...name.matchAll(form)].map(([, index, total]) => toShard(set, Number(index), Number(total)))
    const shard = pairs.findLast((one) => one !== undefined)
    if (shard !== undefined) return shard
  }
  return undefined
}

/** The first line of `report.jsonl` says which shard it is, and of which system. */
async function readPlaywrightBlob(path: string, file: string): Promise<BlobReport> {
  const [first, second] = await readEvents(path)
  const { method, params } = fieldsOf(first)
  if (method !== 'onBlobReportMetadata') throw new Error(`its ${REPORT_ENTRY} does not begin as those of Playwright do`)
  const { shard, userAgent } = fieldsOf(params)
  const { current, total } = fieldsOf(shard)
  // The text around the system has the versions of Playwright and Node, which may differ between the jobs of one matrix.
  const system = /\(.*\)/.exec(stringOf(userAgent))?.[0] ?? ''
  const { rootDir } = fieldsOf(fieldsOf(fieldsOf(second).params).config)
  const root = typeof rootDir === 'string' ? rootDir : undefined
  return { file, shard: toShard(system, current, total), testFiles: [], hasCoverage: false, root }
}

/** A matrix of GitHub has at most 256 jobs. A higher number is a date, for example. */
const MOST_SHARDS = 256

function toShard(set: string, index: unknown, total: unknown): Shard | undefined {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(total)) return undefined
  const shard = { set, index: Number(index), total: Number(total) }
  return shard.index >= 1 && shard.index <= shard.total && shard.total <= MOST_SHARDS ? shard : undefined
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

type Counted = Pick<BlobReport, 'file' | 'shard'>

/**
 * Which shards are missing or are there too often, as the rest of a sentence. Undefined if each number from 1 to the total is there
 * equally often. Reports of several projects or systems of one kind may all have the same numbers.
 */
export function whyIncomplete(reports: readonly Counted[]): string | undefined {
  const sets = [...setsOf(reports).values()]
  const problems = sets.flatMap((ofSet) => whySetIncomplete(ofSet, sets.length > 1) ?? [])
  if (problems.length === 0) return undefined
  const next = 'A job may have been cancelled, or may have failed before a report was written or uploaded'
  return `${problems.join(', and ')}. ${next}`
}

function setsOf<T extends Counted>(reports: readonly T[]) {
  const shards = reports.flatMap(({ shard, ...report }) => (shard === undefined ? [] : [{ ...report, shard }]))
  return Map.groupBy(shards, ({ shard }) => JSON.stringify([shard.set, shard.total]))
}

function whySetIncomplete(reports: readonly Required<Counted>[], areThereOthers: boolean): string | undefined {
  const total = reports[0]?.shard?.total ?? 0
  const numbers = Array.from({ length: total }, (_, at) => {
    const files = reports.filter(({ shard }) => shard?.index === at + 1).map(({ file }) => quote(file))
    return { name: `${at + 1}/${total}`, files }
  })
  const usual = mostFrequent(numbers.map(({ files }) => files.length))
  const missing = numbers.filter(({ files }) => files.length < Math.max(...usual)).map(({ name }) => name)
  const twice = numbers.filter(({ files }) => files.length > Math.min(...usual))
  const beside = areThereOthers ? ` beside ${quote(reports[0]?.file)}` : ''
  const sentences = [
    ...(missing.length === 0 ? [] : [`${shardsAre(missing)} missing${beside}`]),
    ...twice.map(({ name, files }) => {
      const often = files.length === 2 ? 'twice' : `${files.length} times`
      return `shard ${name} is there ${often}: an earlier attempt? Its reports are ${files.join(' and ')}`
    }),
  ]
  const isUnclear = usual.length > 1 && numbers.every(({ files }) => files.length > 0)
  return sentences.join(isUnclear ? ', or ' : ', and ') || undefined
}

/** How often a number is there in most cases, at least once. Several values if these cases are equally many. */
function mostFrequent(counts: readonly number[]): number[] {
  const cases = [...Map.groupBy(counts, (count) => Math.max(1, count))]
  const most = Math.max(...cases.map(([, { length }]) => length))
  return cases.filter(([, { length }]) => length === most).map(([count]) => count)
}

function shardsAre(names: readonly string[]): string {
  return names.length === 1 ? `shard ${names[0]} is` : `shards ${names.slice(0, -1).join(', ')} and ${names.at(-1)} are`
}

/** Nobody can check how many reports there must be if no name says it. Undefined for a single report, which is of the whole. */
export function whyUncounted(reports: readonly Counted[]): string | undefined {
  const { length } = reports.filter(({ shard }) => shard === undefined)
  if (length < 2) return undefined
  return `the names of ${length} reports do not say how many there must be, so nobody could check whether one is missing. A name such as blob-1-4.json says it`
}

/** Only the name of Vitest's file says which shard it is, and the jobs may all have run the same one. Throws UnusableReports. */
export function refuseEqual(reports: readonly Pick<BlobReport, 'file' | 'shard' | 'testFiles'>[]): void {
  for (const ofSet of setsOf(reports.filter(({ testFiles }) => testFiles.length > 0)).values()) {
    const equal = Map.groupBy(ofSet, ({ testFiles }) => JSON.stringify(testFiles.map(({ id }) => id).sort()))
    // Two reports of one number have the same test files. They are of two attempts, or of two systems.
    const wrong = [...equal.values()].find((ones) => ones.some(({ shard }) => shard.index !== ones[0]?.shard.index))
    if (wrong === undefined) continue
    throw new UnusableReports(
      `has reports of the same test files: ${wrong.map(({ file }) => quote(file)).join(', ')}. In each job of a shard, give --shard the number of this job`,
    )
  }
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
