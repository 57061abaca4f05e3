import { count, quoteCommand } from '../text.ts'
import { keepChangesSince, takeSnapshot } from '../workspace/auto-fix.ts'
import { describeEnd, hasSucceeded, quoteOutput } from './command-end.ts'
import { repositoryOf, type Source } from './prepare-files.ts'
import { isBad, type RunOutcome } from './run.ts'
import { runFramework } from './run-framework.ts'
import { runInSource } from './run-in-source.ts'
import type { TestRun } from './test-run.ts'

/** Clients already see the run as finished, so the limit of the run no longer applies. Auto-fix has its own limit. */
export async function fixWithinLimit(
  run: TestRun,
  source: Source,
  before: RunOutcome,
  stop: AbortSignal,
): Promise<void> {
  const limit = new AbortController()
  const timer = setTimeout(() => {
    run.log(`auto-fix: exceeded its limit of ${run.autofixLimitMs / 60_000} min; stopping it`)
    limit.abort()
  }, run.autofixLimitMs)
  try {
    await fix(run, source, before, AbortSignal.any([stop, limit.signal]))
  } finally {
    clearTimeout(timer)
  }
}

async function fix(run: TestRun, source: Source, before: RunOutcome, stop: AbortSignal): Promise<void> {
  const { checkout, runId, resources } = run
  const { autofix } = run.project
  if (autofix === undefined) {
    run.log('auto-fix: not tried, the project has no "autofix" command')
    return
  }
  if (checkout.kind !== 'work-tree') {
    run.log('auto-fix: not tried, the project is in no git repository with a commit')
    return
  }
  const repository = repositoryOf(run, checkout.place, stop)
  const { tree: folder, runFolder } = resources
  const tree = { repository, commit: checkout.commit, tree: folder, ownFolder: runFolder, runId }
  const snapshot = await takeSnapshot(tree)
  const end = await runInSource(source, run, autofix, stop)
  run.log(`auto-fix: ${quoteCommand(autofix)} ${describeEnd(end)}${hasSucceeded(end) ? '' : quoteOutput(end)}`)
  // A stopped command made only some of its changes. A command that exits with an error may still have fixed something.
  if (end.kind === 'stopped' || end.kind === 'lost') return
  const branch = await keepChangesSince(snapshot, tree)
  if (branch === undefined) {
    run.log('auto-fix: nothing was changed, so there is no branch')
    return
  }
  run.log(`auto-fix: the changes are on branch ${branch}`)
  const after = await runFramework(run, source, stop)
  run.log(
    `auto-fix: ${count(failuresIn(before), 'test case')} failed before, ${failuresIn(after)} after (${after.status})`,
  )
}

function failuresIn({ testCases }: RunOutcome): number {
  return testCases.filter(isBad).length
}
