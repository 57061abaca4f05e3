import { dirname, join, relative } from 'node:path'
import type { Project } from '../project.ts'
import { quote } from '../text.ts'
import {
  describeOldFramework,
  findLinkIntoRepository,
  findPackageCommand,
  packageFilesOf,
  suggestSetup,
  usesPlugAndPlay,
} from './packages.ts'
import { isInside } from './paths.ts'
import {
  type FoundRepository,
  findBranch,
  findChangedFile,
  hasProjectFolder,
  openRepository,
  type Place,
  type Repository,
  readHead,
} from './work-tree.ts'

/** Which files a run tests: the project's folder itself, a copy of it, or a work tree of a commit. */
export type Checkout = (
  | { readonly kind: 'in-place'; readonly place: Place | Repository }
  | { readonly kind: 'copy'; readonly place: Place }
  | { readonly kind: 'work-tree'; readonly place: Repository; readonly commit: string }
) & { readonly branchName?: string | undefined }

interface Refusal {
  readonly kind: 'refused'
  readonly error: string
}

/** What a job has checked out. The service uses it if git finds no repository for a project's folder. */
export interface CheckoutOfJob {
  readonly root: string
  readonly commit: string
}

/**
 * Chooses which files a run tests. If a branch is requested or configured, the run tests a work tree of the branch. If there
 * is no branch, or if the branch is the hash of the checked-out commit, the run tests the folder as it stands.
 */
export async function chooseCheckout(
  project: Project,
  branch: string | undefined,
  { repository, reason }: FoundRepository,
  ofJob?: CheckoutOfJob | undefined,
): Promise<Checkout | Refusal> {
  if (repository === undefined) {
    if (branch === undefined || branch === ofJob?.commit) {
      return asItStands(project, placeWithoutGit(project, ofJob), branch)
    }
    const why = `its folder is in no git repository that git can use (${reason})`
    return refuse(`Project ${quote(project.id)} has no branch ${quote(branch)}: ${why}.`)
  }
  const { root, folder } = repository
  const head = await readHead(repository)
  if (branch === undefined || branch === head.commit) {
    return asItStands(project, repository, branch ?? head.branch)
  }
  const commit = await findBranch(repository, branch)
  if (commit === undefined) {
    const instead = project.defaultBranch === undefined ? ', or send no "branch" to test the folder as it stands' : ''
    return refuse(
      `Project ${quote(project.id)} has no branch ${quote(branch)}. Fetch or create it in ${root}${instead}.`,
    )
  }
  if (!(await hasProjectFolder(repository, commit))) {
    return refuse(`Branch ${quote(branch)} has no folder ${quote(folder)} of project ${quote(project.id)}.`)
  }
  return checkPackages(project, { kind: 'work-tree', place: repository, commit, branchName: branch })
}

/** A container gets a copy. In the project's folder itself, tests could change files that other tests or git read. */
async function asItStands(project: Project, place: Place, branchName?: string): Promise<Checkout | Refusal> {
  if (project.container === undefined) return { kind: 'in-place', place, branchName }
  return checkPackages(project, { kind: 'copy', place, branchName })
}

/** Packages are searched from the folder up to `root`. Outside a job's checkout, only the folder is searched. */
function placeWithoutGit({ folder }: Project, ofJob: CheckoutOfJob | undefined): Place {
  const root = ofJob !== undefined && isInside(folder, ofJob.root) ? ofJob.root : folder
  return { root, folder: relative(root, folder) }
}

export interface ProjectFolder {
  /** The commit that is checked out in it, if any. */
  readonly commit: string | undefined
  /** The branch that is checked out in it, if any. */
  readonly branch: string | undefined
  readonly repository: Repository | undefined
  /** Whether a run of the folder itself leaves out the `setup` of the project. */
  readonly skipsSetup: boolean
  /** Why no run can test the folder. Undefined if no reason is known. */
  readonly problem: FrameworkProblem | undefined
}

interface FrameworkProblem {
  readonly kind: 'missing' | 'too-old'
  readonly text: string
}

/** Finds out what a run would find in the project's folder. */
export async function inspectFolder(
  project: Project,
  env: NodeJS.ProcessEnv,
  ofJob: CheckoutOfJob | undefined,
): Promise<ProjectFolder> {
  const { repository } = await openRepository(project.folder, env)
  const head = repository === undefined ? { commit: ofJob?.commit, branch: undefined } : await readHead(repository)
  const skipsSetup = project.setup !== undefined && project.container === undefined
  const problem = findProblem(project, repository ?? placeWithoutGit(project, ofJob))
  return { ...head, repository, skipsSetup, problem }
}

function findProblem({ framework, folder, ...project }: Project, place: Place): FrameworkProblem | undefined {
  if (project.command !== undefined || project.setup !== undefined) return undefined
  const old = unlessUnreadable(() => describeOldFramework(framework, place))
  if (old !== undefined) return { kind: 'too-old', text: old }
  // In a container, there is neither Yarn nor its cache.
  const isThroughYarn = project.container === undefined && usesPlugAndPlay(place)
  if (isThroughYarn || isInstalled(framework.packageName, place)) return undefined
  return { kind: 'missing', text: `${framework.packageName} is not installed in ${folder}` }
}

function isInstalled(packageName: string, place: Place): boolean {
  return unlessUnreadable(() => findPackageCommand(packageName, place)) !== undefined
}

function unlessUnreadable<T>(readManifest: () => T): T | undefined {
  try {
    return readManifest()
  } catch {
    return undefined
  }
}

function refuse(error: string): Refusal {
  return { kind: 'refused', error }
}

/** Without a setup, a work tree or a copy uses the packages of the project's folder. They must fit the tested files. */
async function checkPackages(project: Project, checkout: Checkout): Promise<Checkout | Refusal> {
  const { place, branchName } = checkout
  const problem = project.setup === undefined ? await findPackageProblem(checkout) : undefined
  if (problem === undefined) return checkout
  const commit = branchName === undefined ? 'the last commit' : `branch ${quote(branchName)}`
  const tested = checkout.kind === 'work-tree' ? commit : 'its folder in a container'
  const setup = suggestSetup(place, problem.installedIn)
  return refuse(`Project ${quote(project.id)} needs a "setup" to test ${tested}, such as ${setup}: ${problem.reason}.`)
}

/** Why the packages of the project's folder do not fit the tested files. Undefined if they fit. */
async function findPackageProblem(checkout: Checkout): Promise<{ reason: string; installedIn: string } | undefined> {
  const { root } = checkout.place
  const link = findLinkIntoRepository(checkout.place)
  if (link !== undefined) {
    const reason = `${link.link} links to ${link.target}, so the tests would use that code as it stands in ${root}`
    return { reason, installedIn: link.installedIn }
  }
  if (checkout.kind !== 'work-tree') return undefined
  const files = packageFilesOf(checkout.place)
  const changed = files.length === 0 ? undefined : await findChangedFile(checkout.place, checkout.commit, files)
  if (changed === undefined) return undefined
  const reason = `its ${changed} differs from the one in ${root}, and the tests would use the packages installed there`
  return { reason, installedIn: dirname(join(root, changed)) }
}
