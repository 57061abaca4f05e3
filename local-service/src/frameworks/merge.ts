import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { quote } from '../text.ts'
import {
  readBlobs,
  refuseEqual,
  UnusableReports,
  whyIncomplete,
  whyLost,
  whyUncounted,
  withPathsOf,
} from './blob-reports.ts'
import type { FrameworkCall, RunOptions } from './framework.ts'
import { isBad } from './report.ts'

// The framework's own command is green in more ways than a run: a shard is missing, or its coverage, or the framework exits with 0
// whatever the tests did.

/** `ours` are the arguments that make the framework merge. */
type Merge = Pick<Required<FrameworkCall>, 'title' | 'findProblems' | 'remark'> & { readonly ours: readonly string[] }

export const PASS_WITH_NO_TESTS = '--passWithNoTests'

export async function mergeVitest(merge: string, { args, folders, inputFolder }: RunOptions): Promise<Merge> {
  const folder = resolve(folders.folder, merge)
  const reports = await readBlobs(folder, 'vitest')
  refuseEqual(reports)
  const problems = [whyIncomplete(reports), whyLost(reports)]
  const empty = reports.find(({ testFiles }) => testFiles.length === 0)
  if (empty !== undefined && !args.includes(PASS_WITH_NO_TESTS)) {
    throw new UnusableReports(
      `has a report without a single test file, ${quote(empty.file)}. The global setup of the shard may have failed, or the shard has no tests. Give fewer shards, or add ${PASS_WITH_NO_TESTS} to the command of the shards and to the arguments of the merge`,
    )
  }
  const without = reports.filter((report) => !report.hasCoverage).map(({ file }) => quote(file))
  return {
    ours: [`--mergeReports=${await withPathsOf(folders.root, folder, reports, inputFolder)}`],
    title: 'vitest --mergeReports',
    remark: whyUncounted(reports),
    findProblems(_, { hasCoverage }) {
      const needsCoverage =
        hasCoverage === true || args.some((argument) => /^--coverage(?:\.enabled)?(?:=true)?$/.test(argument))
      if (!needsCoverage || without.length === 0) return problems
      return [
        ...problems,
        `the coverage of the whole is not known, because these reports have none: ${without.join(', ')}. Give each shard --coverage and --coverage.thresholds=false`,
      ]
    },
  }
}

export async function mergePlaywright(merge: string, { args, folders }: RunOptions): Promise<Merge> {
  const reports = await readBlobs(resolve(folders.folder, merge), 'playwright')
  const missing = whyIncomplete(reports)
  // Without the configuration, places are those of the machine of the shard.
  const isConfigured = args.some((argument) => /^(?:-c|--config)(?:=|$)/.test(argument))
  const isConfig = (file: string) => /^playwright\.config\.[cm]?[jt]s$/.test(file)
  const config = isConfigured ? undefined : readdirSync(folders.folder).find(isConfig)
  return {
    ours: ['merge-reports', merge, ...(config === undefined ? [] : [`--config=${config}`])],
    title: 'playwright merge-reports',
    remark: undefined,
    findProblems({ testCases, errors }, { status }) {
      // The command exits with 0 whatever the tests did. The status also counts the set-up and the time limit of each shard.
      if (status === 'passed' || testCases.some(isBad)) return [missing]
      const whole = `the whole run is ${quote(status ?? 'unfinished')}`
      return [missing, errors.length > 0 ? 'a shard reported an error' : whole]
    },
  }
}
