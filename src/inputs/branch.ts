import {
  type BranchChoice,
  type BranchToLookUp,
  branchOfEvent,
  type FoundBranch,
  type WorkflowEvent,
} from '../github/event.ts'
import type { GitHubAccess } from '../github/github-api.ts'
import { BRANCH_LIMIT_CHARS, isSameBranch } from '../outcome/run.ts'
import { untestedText } from '../report/facts.ts'
import { type Fragment, fragment, quote } from '../text/safe-text.ts'
import { InputReader } from './input-reader.ts'
import { SKIPPED_PASSES } from './secrets.ts'

/** The default of the input `branch`: the branch that the event is about. Git allows no branch of this name. */
export const BRANCH_OF_EVENT = '@{event}'

/** Undefined if there is a problem with the branch. */
export function readBranch(inputs: InputReader, event: WorkflowEvent): BranchChoice | BranchToLookUp | undefined {
  if (inputs.text('run-id') !== '') {
    return { kind: 'branch', name: undefined, because: 'the input run-id names a run' }
  }
  const given = inputs.isPresent('branch') ? inputs.text('branch') : BRANCH_OF_EVENT
  if (given === '') return emptyBranch(event)
  const ofEvent = branchOfEvent(event)
  if (given === BRANCH_OF_EVENT) {
    return ofEvent.kind === 'pull-request' || ofEvent.kind === 'deployment' ? ofEvent : branchToSend(ofEvent, inputs)
  }
  const isOfFork = ofEvent.kind === 'branch-of-fork' && isSameBranch(given, ofEvent.name)
  const named: BranchChoice = { kind: 'branch', name: given, because: 'the input branch names it' }
  return branchToSend(isOfFork ? ofEvent : named, inputs)
}

/** Loads GitHub's client only if the event does not name the branch. Throws an InvalidInputsError. */
export async function branchToTest(read: BranchChoice | BranchToLookUp, access: GitHubAccess): Promise<BranchChoice> {
  if (read.kind === 'branch') return read
  const { lookUpBranch } = await import('../github/branch-look-up.ts')
  const inputs = new InputReader(access.env)
  return inputs.orThrow(branchToSend(await lookUpBranch(read, access), inputs))
}

/** Records a problem if the service must not test what was found. */
function branchToSend(found: FoundBranch, inputs: Pick<InputReader, 'problem'>): BranchChoice | undefined {
  switch (found.kind) {
    case 'branch': {
      const { name = '' } = found
      const characters = [...name].length
      if (characters <= BRANCH_LIMIT_CHARS) return found
      return inputs.problem(
        fragment`Input branch: "${name}" has ${characters} characters. The service takes 1 to ${BRANCH_LIMIT_CHARS}.`,
      )
    }
    case 'branch-of-fork':
      return inputs.problem(
        fragment`Input branch: this workflow run is about the branch "${found.name}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. ${SKIPPED_PASSES}`,
      )
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
  return { kind: 'branch', name: undefined, because: 'the input branch is empty', warning, untested }
}

/** What the event is about. Undefined if it is about the default branch, or about no branch. */
function untestedHead(event: WorkflowEvent): Fragment | undefined {
  const found = branchOfEvent(event)
  switch (found.kind) {
    case 'pull-request':
      return fragment`the head of pull request ${String(found.number)}`
    case 'unknown':
      return fragment`a commit of a fork`
    case 'branch-of-fork':
      return quote(found.name, BRANCH_LIMIT_CHARS)
  }
  const name = found.kind === 'deployment' ? found.ref : (found.name ?? '')
  // A schedule runs only on the default branch, but its payload may not name that branch.
  const isDefault = event.name === 'schedule' || isSameBranch(name, event.payload.repository?.default_branch ?? '')
  return isDefault || name === '' ? undefined : quote(name, BRANCH_LIMIT_CHARS)
}
