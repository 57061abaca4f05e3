import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { describeEnd } from '../machine/command.ts'
import { git, readGit } from '../machine/git.ts'
import { argvOf } from '../machine/script.ts'
import { count, quoteAll, quoteCommand } from '../text.ts'
import { gitOptionsIn, type RunContext, runProjectCommand } from './project-command.ts'

/** Runs the project's "fix" command, and returns what it did, as sentences. Nothing here changes the outcome of the run. */
export async function fixTests(run: RunContext): Promise<string> {
  const { fix } = run.project
  if (fix === undefined) return 'It was not tried, because the project has no "fix" command.'
  try {
    // This fails if there is no repository, or if it belongs to another user, whose configuration may name programs. Then there is no patch.
    const before = await snapshotOf(run).catch((error: unknown) => ({ problem: messageOf(error) }))
    const what = `${quoteCommand(fix)} ${describeEnd(await runProjectCommand(run, argvOf(fix)))}.`
    if (typeof before !== 'string') return `${what} There is no patch: ${before.problem}`
    const after = await snapshotOf(run)
    if (after === before) return `${what} It changed nothing.`
    const patch = join(run.output.folder, 'fix.patch')
    const options = gitOptionsIn(run.tested.folder, run)
    await readGit(['diff-tree', '-p', '--binary', `--output=${patch}`, before, after], options)
    const listed = await readGit(['diff-tree', '-r', '-z', '--name-only', before, after], options)
    const changed = listed.split('\0').filter((name) => name !== '')
    return `${what} It changed ${count(changed.length, 'file')}: ${quoteAll(changed)}. The patch is ${patch}.`
  } catch (error) {
    return `It failed: ${messageOf(error)}`
  }
}

/** Everything in the repository's folder, also what is not committed. So the patch has only what the command changed. */
async function snapshotOf(run: RunContext): Promise<string> {
  const index = join(run.resources.folder, 'index')
  const options = { ...gitOptionsIn(run.tested.folder, run), index }
  // `git add` skips an ignored file that is not in the index. So the index begins with all tracked files.
  if (!existsSync(index)) await git(['read-tree', 'HEAD'], options)
  await git(['add', '--all'], options)
  return git(['write-tree'], options)
}
