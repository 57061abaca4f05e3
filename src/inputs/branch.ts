import { type BranchToLookUp, branchOfEvent, type FoundBranch, type WorkflowEvent } from '../github/event.ts'
import type { GitHubAccess } from '../github/github-api.ts'
import { BRANCH_LIMIT_CHARS, isSameBranch } from '../outcome/run.ts'
import type { UntestedHead } from '../outcome/step-outcome.ts'
import { untestedText } from '../report/facts.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { InputReader } from './input-reader.ts'
import { SKIPPED_PASSES } from './secrets.ts'

/** The default of the input `branch`: the branch that the event is about. Git allows no branch of this name. */
export const BRANCH_OF_EVENT = '@{event}'

/** What main tells the service about the branch, and why. */
export interface BranchChoice {
  /** If it is undefined, main sends no branch, and the service tests the project's default branch. */
  readonly name: string | undefined
  /** For the debug log: the rule by which the branch was chosen. */
  readonly because: string
  readonly info?: Fragment | undefined
  readonly warning?: Fragment | undefined
  /** What the event is about. Set only if an empty input made us test the default branch instead. */
  readonly untested?: UntestedHead | undefined
}

/** Undefined if there is a problem with the branch. */
export function readBranch(inputs: InputReader, event: WorkflowEvent): BranchChoice | BranchToLookUp | undefined {
  if (inputs.text('run-id') !== '') return { name: undefined, because: 'the input run-id names a run' }
  // If the runner does not know the input's default, it sets no variable.
  const given = inputs.isPresent('branch') ? inputs.text('branch') : BRANCH_OF_EVENT
  if (given === '') return emptyBranch(event)
  const ofEvent = branchOfEvent(event)
  if (given === BRANCH_OF_EVENT) {
    return ofEvent.kind === 'pull-request' || ofEvent.kind === 'deployment' ? ofEvent : branchToSend(ofEvent, inputs)
  }
  const isOfFork = ofEvent.kind === 'branch-of-fork' && isSameBranch(given, ofEvent.name)
  return branchToSend(
    isOfFork ? ofEvent : { kind: 'branch', name: given, because: 'the input branch names it' },
    inputs,
  )
}

/** Loads GitHub's client only if the event does not name the branch. Throws an InvalidInputsError. */
export async function branchToTest(read: BranchChoice | BranchToLookUp, access: GitHubAccess): Promise<BranchChoice> {
  if (!('kind' in read)) return read
  const { lookUpBranch } = await import('../github/branch-look-up.ts')
  const found = await lookUpBranch(read, access)
  // The action then starts nothing.
  if (found === undefined) return { name: undefined, because: 'the step was cancelled' }
  const inputs = new InputReader(access.env)
  return inputs.orThrow(branchToSend(found, inputs))
}

/** Records a problem if the service must not test what was found. */
function branchToSend(found: FoundBranch, inputs: Pick<InputReader, 'problem'>): BranchChoice | undefined {
  switch (found.kind) {
    case 'branch': {
      const { name, because, info, warning } = found
      const characters = [...name].length
      if (characters <= BRANCH_LIMIT_CHARS) return { name, because, info, warning }
      return inputs.problem(
        fragment`Input branch: "${name}" has ${characters} characters. The service takes 1 to ${BRANCH_LIMIT_CHARS}.`,
      )
    }
    case 'branch-of-fork':
      return inputs.problem(
        fragment`Input branch: this workflow run is about the branch "${found.name}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. ${SKIPPED_PASSES}`,
      )
    case 'no-branch': {
      const info = fragment`This workflow run is about ${found.subject}, so the project's default branch is tested. To test another branch, set the input "branch".`
      return { name: undefined, because: 'the event is about no branch', info }
    }
    case 'unknown':
      return inputs.problem(
        fragment`Input branch: ${found.reason} Set the input "branch" to the branch that you want to test.`,
      )
  }
}

/** Warns if the event is not about the default branch, because the input may be an unset variable. */
function emptyBranch(event: WorkflowEvent): BranchChoice {
  const untested = untestedHead(event)
  const warning =
    untested &&
    fragment`${untestedText(untested)} If the input comes from a variable, check that the variable is set. Otherwise remove the input, or set it to the branch that you want to test.`
  return { name: undefined, because: 'the input branch is empty', warning, untested }
}

/** Undefined if the event is about the default branch, or about no branch. */
function untestedHead(event: WorkflowEvent): UntestedHead | undefined {
  const found = branchOfEvent(event)
  switch (found.kind) {
    case 'pull-request':
      return found
    case 'no-branch':
      return undefined
    case 'unknown':
      return { kind: 'commit-of-fork' }
    case 'branch-of-fork':
      return { kind: 'branch', name: found.name }
  }
  const name = found.kind === 'deployment' ? found.ref : found.name
  // A schedule runs only on the default branch, but its payload may not name that branch.
  const isDefault = event.name === 'schedule' || isSameBranch(name, event.payload.repository?.default_branch ?? '')
  return isDefault || name === '' ? undefined : { kind: 'branch', name }
}
