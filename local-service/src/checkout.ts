import type { Project } from './project.ts'
import { quote } from './routes.ts'
import { findBranch, hasProjectFolder, openRepository, type Repository, readHead } from './work-tree.ts'

/** Where a run's tests run. */
export type Workplace =
  /** The project's folder as it stands, uncommitted changes included. */
  | { readonly kind: 'in-place'; readonly branchName?: string }
  /** A work tree of its own for one commit. */
  | {
      readonly kind: 'work-tree'
      readonly repository: Repository
      readonly commit: string
      readonly branchName?: string
    }

export type ChosenWorkplace =
  | { readonly kind: 'chosen'; readonly workplace: Workplace }
  | { readonly kind: 'refused'; readonly error: string }

/**
 * Chooses where a run belongs. A branch, asked for or configured, gets a work tree. Without one the folder is taken as
 * it stands, unless the run may change files: auto-fix works on what is committed.
 */
export async function chooseWorkplace(
  project: Project,
  branch: string | undefined,
  mayChangeFiles: boolean,
  env: NodeJS.ProcessEnv,
): Promise<ChosenWorkplace> {
  const opened = await openRepository(project.folder, env)
  if (opened.kind === 'none') {
    if (branch === undefined) return { kind: 'chosen', workplace: { kind: 'in-place' } }
    const error = `Project ${quote(project.id)} has no branch ${quote(branch)}: its folder is in no git repository that git can use (${opened.reason}).`
    return { kind: 'refused', error }
  }
  const { repository } = opened
  if (branch === undefined) {
    const head = await readHead(repository)
    const branchName = head.branch === undefined ? {} : { branchName: head.branch }
    if (mayChangeFiles && head.commit !== undefined && (await hasProjectFolder(repository, head.commit))) {
      return { kind: 'chosen', workplace: { kind: 'work-tree', repository, commit: head.commit, ...branchName } }
    }
    return { kind: 'chosen', workplace: { kind: 'in-place', ...branchName } }
  }
  const commit = await findBranch(repository, branch)
  if (commit === undefined) {
    const error = `Project ${quote(project.id)} has no branch ${quote(branch)}. Commit to it or fetch it in ${repository.root}, or leave "branch" out to test the folder as it stands.`
    return { kind: 'refused', error }
  }
  if (!(await hasProjectFolder(repository, commit))) {
    const error = `Branch ${quote(branch)} has no folder ${quote(repository.folder)}, where project ${quote(project.id)} is.`
    return { kind: 'refused', error }
  }
  return { kind: 'chosen', workplace: { kind: 'work-tree', repository, commit, branchName: branch } }
}
