import { relative, resolve } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { isUnusable, type Unusable, unusable } from '../frameworks/unusable.ts'
import { isInside, type TestedFolders } from '../machine/files.ts'
import { type GitOptions, readGit } from '../machine/git.ts'
import type { Project } from '../settings/project.ts'
import { quote } from '../text.ts'
import { findFramework } from './packages.ts'

/** Which files a run tests. */
export interface Checkout {
  /** The project's own folder, and the root of its repository. */
  readonly original: TestedFolders
  /** The commit of the work tree that the run tests. Undefined if the run tests the project's own folder as it is. */
  readonly workTreeCommit?: string | undefined
  readonly branchName?: string | undefined
  /** Why nobody knows which branch and which commit the folder is. */
  readonly whyUnknown?: string | undefined
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export interface CheckoutContext {
  readonly serviceEnv: NodeJS.ProcessEnv
  /** The workspace of the job, and the branch for which GitHub runs the job. */
  readonly checkoutOfJob?: { readonly root: string; readonly branch: string } | undefined
}

/**
 * Finds what is checked out in a folder. If git cannot say it, `branch` is the branch of the job, which is only a guess. Without it,
 * `chooseCheckout` would refuse each request of the gate, because the gate asks for this branch.
 */
async function findHead(git: GitOptions, checkoutOfJob?: CheckoutContext['checkoutOfJob']) {
  const { folder } = git
  const args = ['rev-parse', '--show-toplevel', '--show-prefix', 'HEAD^{commit}', '--symbolic-full-name', 'HEAD']
  try {
    const [root = '', path = '', commit = '', ref = ''] = (await readGit(args, git)).split('\n')
    return {
      folders: { root, folder: resolve(root, path) },
      // On a detached head, there is no branch.
      branch: /^refs\/heads\/(.*)/.exec(ref)?.[1],
      commit,
    }
  } catch (error) {
    // git has no repository for the folder, cannot read it, or finds no commit there.
    const whyUnknown = messageOf(error).split('\n', 1)[0] ?? ''
    // Without git, the root is the job's workspace if the folder is in it, else the folder itself.
    const ofJob = checkoutOfJob && isInside(folder, checkoutOfJob.root) ? checkoutOfJob : undefined
    return { folders: { root: ofJob?.root ?? folder, folder }, branch: ofJob?.branch, whyUnknown }
  }
}

/**
 * Chooses which files a run tests. The checked-out branch, the hash of the checked-out commit and no branch mean the folder
 * itself. Every other branch means a work tree of this branch. If there is no such branch, the reason says so.
 */
export async function chooseCheckout(
  project: Project,
  branch: string | undefined,
  context: CheckoutContext,
): Promise<Checkout | Unusable> {
  const git = { folder: project.folder, env: context.serviceEnv }
  const head = await findHead(git, context.checkoutOfJob)
  const original = head.folders
  if (branch === undefined || branch === head.branch || branch === head.commit) {
    // The branch is only a guess then. So the checkout has no `branchName`, and no response says that this branch was tested.
    if (head.whyUnknown !== undefined) return { original, whyUnknown: head.whyUnknown }
    return { original, branchName: branch ?? head.branch }
  }
  if (head.whyUnknown !== undefined) {
    const why = `its folder is in no git repository that git can use (${head.whyUnknown})`
    return unusable(`Project ${quote(project.id)} has no branch ${quote(branch)}: ${why}.`)
  }
  const commit = await findBranch(git, branch)
  if (commit === undefined) {
    const problem = HASH.test(branch)
      ? `has another commit checked out than ${quote(branch)}. A step may have changed that after the service started.`
      : `has no branch ${quote(branch)}. Fetch or create it in ${original.root}. In a workflow, give actions/checkout "fetch-depth: 0".`
    const instead = `To test what is checked out, leave the branch out, or give ${quote(head.commit)}.`
    return unusable(`Project ${quote(project.id)} ${problem} ${instead}`)
  }
  const path = relative(original.root, original.folder)
  const type = await readGit(['cat-file', '-t', `${commit}:${path}`], git).catch(() => undefined)
  if (type !== 'tree') {
    return unusable(`Branch ${quote(branch)} has no folder ${quote(path)} of project ${quote(project.id)}.`)
  }
  return { original, workTreeCommit: commit, branchName: branch }
}

/** A local branch comes before a branch that only `origin` has. The name must be a whole ref, so `main~1` or an option is no branch. */
async function findBranch(git: GitOptions, branch: string): Promise<string | undefined> {
  // A remote's HEAD only points to one of its branches.
  if (branch === 'HEAD') return undefined
  const refs = [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`]
  // git sorts by name, and also lists what these names match as patterns. It fails if no ref can have the name.
  const listed = await readGit(['for-each-ref', '--format=%(refname) %(objectname)', ...refs], git).catch(() => '')
  const found = listed.split('\n').find((line) => refs.some((ref) => line.startsWith(`${ref} `)))
  return found?.split(' ')[1]
}

/**
 * A run in place may wait for others, and somebody can check out something else meanwhile. Then the run must not begin, because the client
 * would believe that its branch was tested. Returns why the run must not begin, as sentences.
 */
export async function whyMoved(asked: string | undefined, git: GitOptions): Promise<string | undefined> {
  if (asked === undefined) return undefined
  const { branch, commit, whyUnknown } = await findHead(git)
  if (whyUnknown !== undefined) return `git cannot say any more what is checked out: ${whyUnknown}.`
  if (asked === branch || asked === commit) return undefined
  const now = quote(HASH.test(asked) ? commit : (branch ?? commit))
  return `${quote(asked)} was checked out when the run was requested, and ${now} when its tests should begin. Start the run again when no step changes the checkout.`
}

/** Adds to a project what is checked out, or why nobody knows that, and why no run can test the folder, as sentences. */
export async function inspectFolder(project: Project, context: CheckoutContext) {
  const { folders, commit, whyUnknown } = await findHead(
    { folder: project.folder, env: context.serviceEnv },
    context.checkoutOfJob,
  )
  const { framework, command, setup } = project
  const isSearched = command === undefined && setup === undefined && framework.packages.length > 0
  const found = isSearched ? findFramework(framework, folders) : undefined
  return { ...project, commit, whyUnknown, problem: isUnusable(found) ? found.reason : undefined }
}
