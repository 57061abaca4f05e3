import { linkPackages } from '../workspace/packages.ts'
import { addWorkTree, type Place, type Repository } from '../workspace/work-tree.ts'
import { MARKER_VARIABLE } from './processes.ts'
import type { TestRun } from './test-run.ts'

type RunWithFiles = Pick<TestRun, 'runId' | 'project' | 'checkout' | 'resources' | 'runExclusive'>

/** Where the files are that a run tests. Makes the work tree if the run needs one. Undefined if the run was stopped. */
export async function prepareFiles(run: RunWithFiles, stop: AbortSignal): Promise<Place | undefined> {
  const { checkout, resources } = run
  if (checkout.kind === 'in-place') return checkout.place
  const { place, commit } = checkout
  const { tree } = resources
  try {
    await run.runExclusive(place.gitFolder, () => addWorkTree(repositoryOf(run, place, stop), commit, tree))
  } catch (error) {
    if (stop.aborted) return undefined
    throw error
  }
  // A setup installs its own packages. Through links, it would change the packages of the project's folder.
  if (!needsSetup(run)) await linkPackages(place, tree)
  return { root: tree, folder: place.folder }
}

/** Whether the run has to install the packages. In the project's folder itself, they are installed. */
export function needsSetup({ checkout, project }: Pick<RunWithFiles, 'checkout' | 'project'>): boolean {
  return checkout.kind === 'work-tree' && project.setup !== undefined
}

/** If the run is stopped, its git commands end. After a kill of the service, the next service finds them by the marker. */
export function repositoryOf(
  { runId }: Pick<RunWithFiles, 'runId'>,
  repository: Repository,
  signal: AbortSignal,
): Repository {
  return { ...repository, env: { ...repository.env, [MARKER_VARIABLE]: runId }, signal }
}
