import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { SHARD_ROOTS } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import type { Checked } from './blob-reports.ts'
import { type FrameworkCall, PASS_WITH_NO_TESTS, type RunOptions } from './framework.ts'
import type { Reading } from './reading.ts'
import { isBad } from './report.ts'
import { UnusableReports } from './unusable-reports.ts'

// The framework's own command is green in more ways than a run: a shard is missing, or its coverage, or the framework exits with 0
// whatever the tests did.

/** `ours` are the arguments that make the framework merge. */
type Merge = Pick<FrameworkCall, 'title' | 'findProblems' | 'remark' | 'env'> & { readonly ours: readonly string[] }

/** Throws UnusableReports. */
function usable<Facts>(reading: Reading<Checked<Facts>>): { readonly missing: string | undefined } & Facts {
  switch (reading.kind) {
    case 'read':
      if (reading.value.kind === 'usable') return reading.value
      throw new UnusableReports(reading.value.why)
    case 'over-limit':
    case 'failed':
      throw new UnusableReports(`cannot be read: ${reading.why}`, { isOverLimit: reading.kind === 'over-limit' })
    case 'stopped':
      throw new UnusableReports('is no longer needed')
  }
}

export async function mergeVitest(
  merge: string,
  { args, folders, inputFolder, thread, env }: RunOptions,
): Promise<Merge> {
  const blobs = {
    folder: resolve(folders.folder, merge),
    root: folders.root,
    newFolder: inputFolder,
    passesWithNoTests: args.includes(PASS_WITH_NO_TESTS),
  }
  const { folder, missing, lost, uncounted, withoutCoverage } = usable(await thread.read('vitestBlobs', blobs))
  const problems = [missing, lost]
  return {
    ours: [`--mergeReports=${folder}`],
    title: 'vitest --mergeReports',
    env,
    remark: uncounted,
    findProblems(_, { hasCoverage }) {
      const needsCoverage =
        hasCoverage === true || args.some((argument) => /^--coverage(?:\.enabled)?(?:=true)?$/.test(argument))
      if (!needsCoverage || withoutCoverage.length === 0) return problems
      return [
        ...problems,
        `the coverage of the whole is not known, because these reports have none: ${withoutCoverage.join(', ')}. Give each shard --coverage and --coverage.thresholds=false`,
      ]
    },
  }
}

export async function mergePlaywright(merge: string, { args, folders, thread, env }: RunOptions): Promise<Merge> {
  const { missing, roots } = usable(await thread.read('playwrightBlobs', { folder: resolve(folders.folder, merge) }))
  // Without the configuration, places are those of the machine of the shard.
  const isConfigured = args.some((argument) => /^(?:-c|--config)(?:=|$)/.test(argument))
  const isConfig = (file: string) => /^playwright\.config\.[cm]?[jt]s$/.test(file)
  const config = isConfigured ? undefined : readdirSync(folders.folder).find(isConfig)
  return {
    ours: ['merge-reports', merge, ...(config === undefined ? [] : [`--config=${config}`])],
    title: 'playwright merge-reports',
    env: { ...env, [SHARD_ROOTS]: JSON.stringify(roots) },
    findProblems({ testCases, errors }, { status }) {
      // The command exits with 0 whatever the tests did. The status also counts the set-up and the time limit of each shard.
      if (status === 'passed' || testCases.some(isBad)) return [missing]
      const whole = `the whole run is ${quote(status ?? 'unfinished')}`
      return [missing, errors.length > 0 ? 'a shard reported an error' : whole]
    },
  }
}
