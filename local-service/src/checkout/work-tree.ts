import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type GitOptions, git } from '../machine/git.ts'

/**
 * Makes the work tree of a commit. Its `.git` folder has a checked-out commit and an index of its own. For everything else, such as branches
 * and objects, it names the `.git` folder of the project: https://git-scm.com/docs/gitrepository-layout. `git worktree add` would also write a
 * record of the work tree to the project's `.git` folder, where it would stay if the service were killed.
 */
export async function makeWorkTree(tree: string, commit: string, project: GitOptions): Promise<void> {
  // git refuses the repository of another user here, because its settings can name programs, such as filters.
  const shared = await git(['rev-parse', '--git-common-dir'], project)
  const gitFolder = join(tree, '.git')
  // A repository with the format "reftable" needs this folder. The other format ignores it.
  await mkdir(join(gitFolder, 'reftable'), { recursive: true })
  // Without these two files, git does not take the folder for a `.git` folder.
  await writeFile(join(gitFolder, 'HEAD'), `${commit}\n`)
  await writeFile(join(gitFolder, 'commondir'), `${resolve(project.folder, shared)}\n`)
  // Writes the commit where git reads it. In the format "reftable", this is not the file `HEAD`.
  await git(['update-ref', '--no-deref', 'HEAD', commit], { ...project, folder: tree })
  // git runs in the project's folder, because it then has all settings of the project, such as those of a sparse checkout.
  const checkout = ['read-tree', '--reset', '-u', '--no-recurse-submodules', commit]
  await git(checkout, { ...project, index: join(gitFolder, 'index'), workTree: tree })
}
