import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { SHARD_ROOTS } from '../reporters/report-writer.ts'
import { quote } from '../text.ts'
import { type FrameworkCall, PASS_WITH_NO_TESTS, type RunOptions, type Unusable } from './framework.ts'
import type { Reading } from './reading.ts'
import { isBad } from './report.ts'

// The framework's own command is green in more ways than a run: a shard is missing, or its coverage, or the framework exits with 0
// whatever the tests did.

/** `ours` are the arguments that make the framework merge. */
type Merge = Pick<FrameworkCall, 'title' | 'findProblems' | 'remark' | 'env'> & { readonly ours: readonly string[] }

/** Why the reports cannot be merged. */
function toUnusable(reading: Exclude<Reading<unknown>, { kind: 'read' }>, merge: string): Unusable {
  const reason = (why: string) => `The reports cannot be merged: the folder ${quote(merge)} ${why}.`
  switch (reading.kind) {
    case 'unusable':
      return { kind: 'unusable', reason: reason(reading.why) }
    case 'failed':
    case 'over-limit':
      return {
        kind: 'unusable',
        reason: reason(`cannot be read: ${reading.why}`),
        isOverLimit: reading.kind === 'over-limit',
      }
    case 'stopped':
      return { kind: 'unusable', reason: reason('is no longer needed') }
  }
}

export async function mergeVitest(
  merge: string,
  { args, folders, inputFolder, thread, env }: RunOptions,
): Promise<Merge | Unusable> {
  const blobs = {
    folder: resolve(folders.folder, merge),
    root: folders.root,
    newFolder: inputFolder,
    passesWithNoTests: args.includes(PASS_WITH_NO_TESTS),
  }
  const reading = await thread.read('vitestBlobs', blobs)
  if (reading.kind !== 'read') return toUnusable(reading, merge)
  const { folder, missing, lost, uncounted, withoutCoverage } = reading.value
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

export async function mergePlaywright(
  merge: string,
  { args, folders, thread, env }: RunOptions,
): Promise<Merge | Unusable> {
  const reading = await thread.read('playwrightBlobs', { folder: resolve(folders.folder, merge) })
  if (reading.kind !== 'read') return toUnusable(reading, merge)
  const { missing, roots } = reading.value
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
