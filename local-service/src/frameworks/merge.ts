import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { SHARD_ROOTS } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import { type FrameworkCall, PASS_WITH_NO_TESTS, type RunOptions, type Unusable, unusable } from './framework.ts'
import type { Reading } from './reading.ts'
import { isBad } from './report.ts'

// The framework's own command is green in more ways than a run: a shard is missing, or its coverage, or the framework exits with 0
// whatever the tests did.

/** `ours` are the arguments that make the framework merge. */
type Merge = Pick<FrameworkCall, 'title' | 'findProblems' | 'remark' | 'env'> & { readonly ours: readonly string[] }

/** Why the reports cannot be merged. */
function toUnusable(reading: Exclude<Reading<unknown>, { kind: 'read' }>, merge: string): Unusable {
  // The outcome of such a run is that of the stop.
  if (reading.kind === 'stopped') return unusable('')
  const why = reading.kind === 'unusable' ? reading.why : `cannot be read: ${reading.why}`
  const reason = `The reports cannot be merged: the folder ${quote(merge)} ${why}.`
  return { kind: 'unusable', reason, isOverLimit: reading.kind === 'over-limit' }
}

export async function mergeVitest(
  merge: string,
  { args, folders, inputFolder, thread, env }: RunOptions,
): Promise<Merge | Unusable> {
  const reading = await thread.read('vitestBlobs', {
    folder: resolve(folders.folder, merge),
    root: folders.root,
    newFolder: inputFolder,
    passesWithNoTests: args.includes(PASS_WITH_NO_TESTS),
  })
  if (reading.kind !== 'read') return toUnusable(reading, merge)
  const { folder, problems, uncounted, withoutCoverage } = reading.value
  return {
    ours: [`--mergeReports=${folder}`],
    title: 'vitest --mergeReports',
    env,
    remark: uncounted,
    findProblems({ hasCoverage }) {
      if (hasCoverage !== true || withoutCoverage.length === 0) return problems
      const unknown = `the coverage of the whole is not known, because these reports have none: ${withoutCoverage.join(', ')}. Give each shard --coverage and --coverage.thresholds=false`
      return [...problems, unknown]
    },
  }
}

export async function mergePlaywright(
  merge: string,
  { args, folders, thread, env }: RunOptions,
): Promise<Merge | Unusable> {
  const reading = await thread.read('playwrightBlobs', { folder: resolve(folders.folder, merge) })
  if (reading.kind !== 'read') return toUnusable(reading, merge)
  const { problems, roots } = reading.value
  // Without the configuration, places are those of the machine of the shard.
  const isConfigured = args.some((argument) => /^(?:-c|--config)(?:=|$)/.test(argument))
  const isConfig = (file: string) => /^playwright\.config\.[cm]?[jt]s$/.test(file)
  const config = isConfigured ? undefined : readdirSync(folders.folder).find(isConfig)
  return {
    ours: ['merge-reports', merge, ...(config === undefined ? [] : [`--config=${config}`])],
    title: 'playwright merge-reports',
    env: { ...env, [SHARD_ROOTS]: JSON.stringify(roots) },
    findProblems({ testCases, errors, status }) {
      // The command exits with 0 whatever the tests did. The status also counts the set-up and the time limit of each shard.
      if (status === 'passed' || testCases.some(isBad)) return problems
      const whole = `the whole run is ${quote(status ?? 'unfinished')}`
      return [...problems, errors.length > 0 ? 'a shard reported an error' : whole]
    },
  }
}
