import { relative } from 'node:path'
import { isInside, type TestedFolders } from '../machine/files.ts'
import type { Project } from '../settings/project.ts'
import { quote } from '../text.ts'
import { findFramework } from './packages.ts'
import { findBranch, hasFolder, openRepository, type Repository, readHead } from './repository.ts'

/** The reason why the service does not do what a client asked for. Nothing was changed. */
export class Refusal extends Error {
  readonly kind: 'invalid' | 'unauthorized' | 'not-found' | 'failed'

  constructor(kind: Refusal['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function refuse(kind: Refusal['kind'], message: string): never {
  throw new Refusal(kind, message)
}

export type Checkout = (
  | { readonly kind: 'in-place'; readonly place: TestedFolders }
  | { readonly kind: 'work-tree'; readonly place: Repository; readonly commit: string }
) & { readonly branchName?: string | undefined }

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export interface CheckoutContext {
  readonly personEnv: NodeJS.ProcessEnv
  /** What the job has checked out. The service uses it if git finds no repository for a project's folder. */
  readonly checkoutOfJob?: { readonly root: string; readonly commit: string } | undefined
}

/**
 * Chooses which files a run tests. The checked-out branch, the hash of the checked-out commit and no branch mean the folder
 * itself. Every other branch means a work tree of this branch. Throws a Refusal if there is no such branch.
 */
export async function chooseCheckout(
  project: Project,
  branch: string | undefined,
  context: CheckoutContext,
): Promise<Checkout> {
  const { repository, place, head } = await findPlace(project.folder, context)
  if (branch === undefined || branch === head.branch || branch === head.commit) {
    return { kind: 'in-place', place, branchName: branch ?? head.branch }
  }
  if (typeof repository === 'string') {
    const why = `its folder is in no git repository that git can use (${repository})`
    refuse('invalid', `Project ${quote(project.id)} has no branch ${quote(branch)}: ${why}.`)
  }
  const commit = await findBranch(repository, branch)
  if (commit === undefined) {
    const problem = HASH.test(branch)
      ? `has another commit checked out than ${quote(branch)}. A step may have changed that after the service started.`
      : `has no branch ${quote(branch)}. Fetch or create it in ${repository.root}. In a workflow, give actions/checkout "fetch-depth: 0".`
    const instead =
      head.commit === undefined ? '' : ` To test what is checked out, give the branch ${quote(head.commit)}.`
    refuse('invalid', `Project ${quote(project.id)} ${problem}${instead}`)
  }
  const path = relative(repository.root, repository.folder)
  if (!(await hasFolder(repository, commit, path))) {
    refuse('invalid', `Branch ${quote(branch)} has no folder ${quote(path)} of project ${quote(project.id)}.`)
  }
  return { kind: 'work-tree', place: repository, commit, branchName: branch }
}

async function findPlace(folder: string, { personEnv, checkoutOfJob: ofJob }: CheckoutContext) {
  const repository = await openRepository(folder, personEnv)
  if (typeof repository !== 'string') return { repository, place: repository, head: await readHead(repository) }
  // Packages are searched from the folder up to the root. Outside a job's checkout, only the folder is searched.
  const root = ofJob !== undefined && isInside(folder, ofJob.root) ? ofJob.root : folder
  return { repository, place: { root, folder }, head: { branch: undefined, commit: ofJob?.commit } }
}

/** A project with the commit that is checked out, and with sentences that say why no run can test the folder, and what to do. */
export async function inspectFolder(project: Project, context: CheckoutContext) {
  const { place, head } = await findPlace(project.folder, context)
  const { framework, command, setup } = project
  const isSearched = command === undefined && setup === undefined && framework.packages.length > 0
  const found = isSearched ? findFramework(framework, place) : undefined
  return { ...project, commit: head.commit, problem: typeof found === 'string' ? found : undefined }
}
