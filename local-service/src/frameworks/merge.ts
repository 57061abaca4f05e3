import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { REPORT_FILE } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import {
  readPlaywrightBlobs,
  readVitestBlobs,
  UnusableReports,
  type VitestBlob,
  whyIncomplete,
  withPathsOf,
} from './blob-reports.ts'
import type { FrameworkSettings, RunOptions } from './framework.ts'
import { type Report, toReport } from './report.ts'
import { type Fields, ReportReader } from './report-reader.ts'
import { isBad } from './test-case.ts'

// What a merge of blob reports needs beyond the framework's own command. The command is green in more ways than a run: a shard is
// missing, or its coverage, or the framework exits with 0 whatever the tests did.

export interface Merge {
  /** The arguments of the framework's command, without those of the project. */
  readonly args: readonly string[]
  /** What sentences call the framework. */
  readonly title: string
  readReport(): Promise<Report | undefined>
}

const PASS_WITH_NO_TESTS = '--passWithNoTests'
const WITH_COVERAGE = /^--coverage(?:\.enabled)?(?:=true)?$/

/** Undefined if nothing is to be merged. Throws UnusableReports. */
export async function mergeVitest(options: RunOptions): Promise<Merge | undefined> {
  const { args, merge, folders, mergeFolder } = options
  if (merge === undefined) return undefined
  const folder = resolve(folders.folder, merge)
  const reports = await readVitestBlobs(folder)
  const missing = whyIncomplete(reports)
  const empty = reports.find(({ testFiles }) => testFiles.length === 0)
  if (empty !== undefined && !args.includes(PASS_WITH_NO_TESTS)) {
    const reason = 'The global setup of the shard may have failed'
    const next = `If a shard may have no tests, add ${PASS_WITH_NO_TESTS} to the arguments of the merge`
    throw new UnusableReports(`has a report without a single test file, ${quote(empty.file)}. ${reason}. ${next}`)
  }
  const merged = await withPathsOf(folders.root, folder, reports, mergeFolder)
  return {
    args: [`--mergeReports=${merged}`],
    title: 'vitest --mergeReports',
    readReport: async () =>
      readMerged(options, missing, ({ hasCoverage }) => {
        const needsCoverage = hasCoverage === true || args.some((argument) => WITH_COVERAGE.test(argument))
        return needsCoverage ? whyWithoutCoverage(reports) : undefined
      }),
  }
}

function whyWithoutCoverage(reports: readonly VitestBlob[]): string | undefined {
  const without = reports.filter(({ hasCoverage }) => !hasCoverage).map(({ file }) => quote(file))
  if (without.length === 0) return undefined
  return `the coverage of the whole is not known, because these reports have none: ${without.join(', ')}. Give each shard --coverage and --coverage.thresholds=false`
}

/** Undefined if nothing is to be merged. Throws UnusableReports. */
export async function mergePlaywright(options: RunOptions): Promise<Merge | undefined> {
  const { args, merge, folders } = options
  if (merge === undefined) return undefined
  const missing = whyIncomplete(await readPlaywrightBlobs(resolve(folders.folder, merge)))
  // Without the configuration, places are those of the machine of the shard.
  const isConfigured = args.some((argument) => /^(?:-c|--config)\b/.test(argument))
  const config = isConfigured ? undefined : readdirSync(folders.folder).find((file) => DEFAULT_CONFIG.test(file))
  return {
    args: ['merge-reports', merge, ...(config === undefined ? [] : [`--config=${config}`])],
    title: 'playwright merge-reports',
    readReport: async () =>
      readMerged(options, missing, ({ status }, { testCases, errors }) => {
        // The command exits with 0 whatever the tests did. The status also counts the set-up and the time limit of each shard.
        if (status === 'passed' || testCases.some(isBad)) return undefined
        return errors.length > 0 ? 'a shard reported an error' : `the whole run is ${quote(status ?? 'unfinished')}`
      }),
  }
}

const DEFAULT_CONFIG = /^playwright\.config\.[cm]?[jt]s$/

/** What the service's reporter wrote. What makes the whole fail although each test passed becomes the problem of the report. */
function readMerged(
  { folders, env }: RunOptions,
  missing: string | undefined,
  findProblem: (finished: Fields, report: Report) => string | undefined,
): Report | undefined {
  const events = new ReportReader(env[REPORT_FILE] ?? '').readAll()
  const report = toReport(events, folders)
  if (report === undefined) return undefined
  const problems = [missing, findProblem(events.finished ?? {}, report)].filter((one) => one !== undefined)
  return { ...report, problem: problems.length === 0 ? undefined : problems.join(', and ') }
}

/** The rest of a sentence that begins with the project. Undefined if the framework can merge with these settings. */
export function whyMergeRefused(framework: 'vitest' | 'playwright', settings: FrameworkSettings): string | undefined {
  const { merge, args } = settings
  if (merge === undefined) return undefined
  const isAllowed = framework === 'vitest' ? isOfVitestMerge : isOfPlaywrightMerge
  const refused = args.find((argument, index) => !isAllowed(argument, args[index - 1]))
  return refused === undefined
    ? undefined
    : `cannot be served: "args" has ${quote(refused)}. A merge of reports runs no test, so it ${ALLOWED[framework]}.`
}

const ALLOWED = {
  vitest: 'takes no file and no filter. Write the value of an option with "="',
  playwright: 'takes only --config and --reporter',
}

/** With a filter, Vitest would lose test files without a word. A value on its own could be such a filter. */
function isOfVitestMerge(argument: string): boolean {
  return /^-/.test(argument) && !/^(?:-t|--(?:testNamePattern|shard|changed|exclude|dir|tagsFilter)\b)/.test(argument)
}

function isOfPlaywrightMerge(argument: string, before = ''): boolean {
  const option = /^(?:-c|--config|--reporter)$/
  return option.test(before) || option.test(argument.replace(/=.*/s, ''))
}
