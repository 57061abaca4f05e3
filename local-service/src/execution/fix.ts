import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { openRepository, type Repository } from '../checkout/repository.ts'
import { describeEnd } from '../machine/command.ts'
import { git, readGit } from '../machine/git.ts'
import { argvOf } from '../machine/script.ts'
import { count, quoteAll, quoteCommand } from '../text.ts'
import type { RunContext } from './context.ts'
import { runProjectCommand } from './project-command.ts'

/** Runs the project's "fix" command, and returns what it did, as sentences. Nothing here changes the outcome of the run. */
export async function fixTests(run: RunContext): Promise<string> {
  const { fix } = run.project
  if (fix === undefined) return 'It was not tried, because the project has no "fix" command.'
  const runFix = async () => `${quoteCommand(fix)} ${describeEnd(await runProjectCommand(run, argvOf(fix)))}.`
  try {
    const repository = await openRepository(run.folders.folder, run.gitEnv, run.stop)
    if ('kind' in repository)
      return `${await runFix()} There is no patch, because git has no repository: ${repository.reason}.`
    // git refuses to change a repository of another user, whose configuration may name programs. The fix runs nevertheless.
    const before = await snapshotOf(repository, run).catch((error: unknown) => ({ problem: messageOf(error) }))
    if (typeof before !== 'string') return `${await runFix()} There is no patch: ${before.problem}`
    const what = await runFix()
    const after = await snapshotOf(repository, run)
    if (after === before) return `${what} It changed nothing.`
    const patch = join(run.output.folder, 'fix.patch')
    await readGit(['diff-tree', '-p', '--binary', `--output=${patch}`, before, after], repository)
    const listed = await readGit(['diff-tree', '-r', '-z', '--name-only', before, after], repository)
    const changed = listed.split('\0').filter((name) => name !== '')
    return `${what} It changed ${count(changed.length, 'file')}: ${quoteAll(changed)}. The patch is ${patch}.`
  } catch (error) {
    return `It failed: ${messageOf(error)}`
  }
}

/** Everything in the repository's folder, also what is not committed. So the patch has only what the command changed. */
async function snapshotOf(repository: Repository, { resources }: RunContext): Promise<string> {
  const index = join(resources.folder, 'index')
  const options = { ...repository, env: { ...repository.env, GIT_INDEX_FILE: index } }
  // Otherwise, the patch would not have a file that is both tracked and ignored.
  if (!existsSync(index)) await git(['read-tree', 'HEAD'], options)
  await git(['add', '--all'], options)
  return git(['write-tree'], options)
}
