import { relative } from 'node:path'
import { type Unusable, unusable } from '../frameworks/framework.ts'
import { isInside, type TestedFolders } from '../machine/files.ts'
import type { Project } from '../settings/project.ts'
import { quote } from '../text.ts'
import { findFramework } from './packages.ts'
import { findBranch, hasFolder, type NoRepository, openRepository, type Repository } from './repository.ts'

export type Checkout = (
  | {
      readonly kind: 'in-place'
      readonly folders: TestedFolders
      /** Why nobody knows which branch and which commit the folder is. */
      readonly unknown?: NoRepository | undefined
    }
  | { readonly kind: 'work-tree'; readonly repository: Repository; readonly commit: string }
) & { readonly branchName?: string | undefined }

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export interface CheckoutContext {
  readonly personEnv: NodeJS.ProcessEnv
  /** The workspace of the job, and the branch for which GitHub runs the job. */
  readonly checkoutOfJob?: { readonly root: string; readonly branch: string } | undefined
}

/**
 * Chooses which files a run tests. The checked-out branch, the hash of the checked-out commit and no branch mean the folder
 * itself. Every other branch means a work tree of this branch. If there is no such branch, the reason says so.
 *
 * If git cannot say what is checked out, the branch of the job means the folder itself too, because the gate asks for it. The run
 * then names no branch.
 */
export async function chooseCheckout(
  project: Project,
  branch: string | undefined,
  context: CheckoutContext,
): Promise<Checkout | Unusable> {
  const repository = await openRepository(project.folder, context.personEnv)
  if ('kind' in repository) {
    const { folders, branch: ofJob } = foldersWithoutGit(project.folder, context)
    if (branch === undefined || branch === ofJob) return { kind: 'in-place', folders, unknown: repository }
    const why = `its folder is in no git repository that git can use (${repository.reason})`
    return unusable(`Project ${quote(project.id)} has no branch ${quote(branch)}: ${why}.`)
  }
  const { head } = repository
  if (branch === undefined || branch === head.branch || branch === head.commit) {
    return { kind: 'in-place', folders: repository, branchName: branch ?? head.branch }
  }
  const commit = await findBranch(repository, branch)
  if (commit === undefined) {
    const problem = HASH.test(branch)
      ? `has another commit checked out than ${quote(branch)}. A step may have changed that after the service started.`
      : `has no branch ${quote(branch)}. Fetch or create it in ${repository.root}. In a workflow, give actions/checkout "fetch-depth: 0".`
    const instead = `To test what is checked out, give the branch ${quote(head.commit)}.`
    return unusable(`Project ${quote(project.id)} ${problem} ${instead}`)
  }
  const path = relative(repository.root, repository.folder)
  if (!(await hasFolder(repository, commit, path))) {
    return unusable(`Branch ${quote(branch)} has no folder ${quote(path)} of project ${quote(project.id)}.`)
  }
  return { kind: 'work-tree', repository, commit, branchName: branch }
}

/**
 * A run in place may wait for others, and somebody can check out something else meanwhile. Then the run must not begin, because its
 * client would take the result for that of what it asked for. Returns why, as sentences.
 */
export async function whyMoved(
  folder: string,
  asked: string | undefined,
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<string | undefined> {
  if (asked === undefined) return undefined
  const repository = await openRepository(folder, env, stop)
  if ('kind' in repository) return `git cannot say any more what is checked out: ${repository.reason}.`
  const { branch, commit } = repository.head
  if (asked === branch || asked === commit) return undefined
  const now = quote(HASH.test(asked) ? commit : (branch ?? commit))
  return `${quote(asked)} was checked out when the run was started, and ${now} when it began. Start the run again when no step changes that.`
}

/** Packages are searched from the folder up to the root. Outside a job's workspace, only the folder is searched. */
function foldersWithoutGit(folder: string, { checkoutOfJob: ofJob }: CheckoutContext) {
  if (ofJob === undefined || !isInside(folder, ofJob.root)) return { folders: { root: folder, folder } }
  return { folders: { root: ofJob.root, folder }, branch: ofJob.branch }
}

/** Adds to a project what is checked out, or why nobody knows that, and why no run can test the folder, as sentences. */
export async function inspectFolder(project: Project, context: CheckoutContext) {
  const repository = await openRepository(project.folder, context.personEnv)
  const isUnknown = 'kind' in repository
  const folders = isUnknown ? foldersWithoutGit(project.folder, context).folders : repository
  const head = isUnknown ? { commit: undefined, whyUnknown: repository.reason } : repository.head
  const { framework, command, setup } = project
  const isSearched = command === undefined && setup === undefined && framework.packages.length > 0
  const found = isSearched ? findFramework(framework, folders) : undefined
  return { ...project, head, problem: found !== undefined && 'kind' in found ? found.reason : undefined }
}
