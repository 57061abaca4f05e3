import { dirname, join } from 'node:path'
import type { Project } from '../project.ts'
import { quote } from '../text.ts'
import { findLinkIntoRepository, findPackageCommand, packageFilesOf, suggestSetup } from './packages.ts'
import { isInside } from './paths.ts'
import {
  type FoundRepository,
  findBranch,
  findChangedFile,
  hasProjectFolder,
  type Repository,
  readHead,
} from './work-tree.ts'

export type Checkout =
  /** The project's folder as it stands, uncommitted changes included. */
  | {
      readonly kind: 'in-place'
      /** The root of the repository; without one, the project's folder. */
      readonly root: string
      readonly gitFolder?: string | undefined
      readonly branchName?: string | undefined
      readonly foldersWithoutGit: readonly string[]
    }
  | WorkTreeCheckout

interface WorkTreeCheckout {
  readonly kind: 'work-tree'
  readonly repository: Repository
  readonly commit: string
  readonly branchName?: string | undefined
}

export interface Refusal {
  readonly kind: 'refused'
  readonly error: string
}

/** What a job has checked out, for a folder in which git finds no repository. */
export interface CheckoutOfJob {
  readonly root: string
  readonly commit: string
}

/**
 * Chooses which files a run tests. A branch, requested or configured, is checked out into a work tree. Without one the
 * folder is used as it stands, unless the run may change files: auto-fix works on what is committed. The full hash of the
 * commit that is checked out in the folder stands for the folder too. So a job can name what it tests on every event.
 */
export async function chooseCheckout(
  project: Project,
  branch: string | undefined,
  mayChangeFiles: boolean,
  opened: FoundRepository,
  ofJob?: CheckoutOfJob | undefined,
): Promise<Checkout | Refusal> {
  const { repository, foldersWithoutGit } = opened
  const noBranch = `Project ${quote(project.id)} has no branch ${quote(branch)}`
  if (repository === undefined) {
    if (branch === undefined || branch === ofJob?.commit) {
      return { kind: 'in-place', root: rootOf(project, opened, ofJob), branchName: branch, foldersWithoutGit }
    }
    return refuse(`${noBranch}: its folder is in no git repository that git can use (${opened.reason}).`)
  }
  const { root, gitFolder, folder } = repository
  const head = await readHead(repository)
  if (branch === undefined || branch === head.commit) {
    const { branch: checkedOut, commit } = head
    const branchName = branch ?? checkedOut
    if (mayChangeFiles && commit !== undefined && (await hasProjectFolder(repository, commit))) {
      return checkPackages(project, { kind: 'work-tree', repository, commit, branchName })
    }
    return { kind: 'in-place', root, gitFolder, branchName, foldersWithoutGit }
  }
  const commit = await findBranch(repository, branch)
  if (commit === undefined) {
    const instead = project.defaultBranch === undefined ? ', or send no "branch" to test the folder as it stands' : ''
    return refuse(`${noBranch}. Commit to it or fetch it in ${root}${instead}.`)
  }
  if (!(await hasProjectFolder(repository, commit))) {
    return refuse(`Branch ${quote(branch)} has no folder ${quote(folder)} of project ${quote(project.id)}.`)
  }
  return checkPackages(project, { kind: 'work-tree', repository, commit, branchName: branch })
}

export interface ProjectFolder {
  /** The commit that is checked out in it, if any. */
  readonly commit: string | undefined
  /** The framework's package, if it is needed and not installed. */
  readonly missingPackage: string | undefined
}

/** What a run that tests the project's folder would find there. */
export async function inspectFolder(
  project: Project,
  opened: FoundRepository,
  ofJob: CheckoutOfJob | undefined,
): Promise<ProjectFolder> {
  const { repository } = opened
  const { commit } = repository === undefined ? { commit: ofJob?.commit } : await readHead(repository)
  const { folder, framework, command, setup } = project
  const needsPackage = command === undefined && setup === undefined
  const isInstalled = findPackageCommand(framework.packageName, folder, rootOf(project, opened, ofJob)) !== undefined
  return { commit, missingPackage: needsPackage && !isInstalled ? framework.packageName : undefined }
}

/** The folder up to which packages are searched: that of the repository, or without one, of the job's checkout. */
function rootOf({ folder }: Project, { repository }: FoundRepository, ofJob: CheckoutOfJob | undefined): string {
  return repository?.root ?? (ofJob !== undefined && isInside(folder, ofJob.root) ? ofJob.root : folder)
}

function refuse(error: string): Refusal {
  return { kind: 'refused', error }
}

/** Without a setup, a work tree uses the packages of the repository's folder. */
async function checkPackages(project: Project, checkout: WorkTreeCheckout): Promise<Checkout | Refusal> {
  const { repository, branchName } = checkout
  const problem = project.setup === undefined ? await findPackageProblem(checkout) : undefined
  if (problem === undefined) return checkout
  const tested = branchName === undefined ? 'the last commit' : `branch ${quote(branchName)}`
  const { manager, setup } = suggestSetup(repository, problem.installedIn)
  return refuse(
    `Project ${quote(project.id)} needs a "setup" command to test ${tested}: ${problem.reason}. Set "setup" to the command ` +
      `that installs the packages of a fresh checkout. It runs in the project's folder, so for ${manager} it is ${setup}.`,
  )
}

/** Why the packages of the repository's folder are not those of a commit. */
async function findPackageProblem({
  repository,
  commit,
}: WorkTreeCheckout): Promise<{ reason: string; installedIn: string } | undefined> {
  const { root } = repository
  const link = findLinkIntoRepository(repository)
  if (link !== undefined) {
    const reason = `${link.link} links to ${link.target}, so the tests would use that code as it stands in ${root}`
    return { reason, installedIn: link.installedIn }
  }
  const files = packageFilesOf(repository)
  const changed = files.length === 0 ? undefined : await findChangedFile(repository, commit, files)
  if (changed === undefined) return undefined
  const reason = `its ${changed} is not that of ${root}, whose installed packages the tests would use`
  return { reason, installedIn: dirname(join(root, changed)) }
}
