import { branchOfEvent, type WorkflowEvent } from '../github/event.ts'
import { BRANCH_LIMIT_CHARS, isSameBranch } from '../model/run.ts'
import { fragment } from '../text/safe-text.ts'
import type { InputReader } from './input-reader.ts'
import { SKIPPED_PASSES } from './service-address.ts'

/**
 * The branch that the user gives, or else the event's branch. Records a problem if this is the branch of a fork, because the service would
 * test a branch of the same name in the wrong repository. Also records one if there is no branch. But a test suite may have none, because
 * its service only records the branch.
 */
export function readBranch(inputs: InputReader, event: WorkflowEvent, isTestSuite: boolean): string | undefined {
  const given = inputs.text('branch')
  const ofEvent = branchOfEvent(event)
  switch (ofEvent.kind) {
    case 'branch':
      return checkedBranch(given || ofEvent.name, inputs)
    case 'fork':
      if (given !== '' && !isSameBranch(given, ofEvent.name)) return checkedBranch(given, inputs)
      return inputs.problem(
        fragment`${inputs.nameOf('branch')}: this workflow run is about the branch "${ofEvent.name}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. ${SKIPPED_PASSES}`,
      )
    case 'none':
      // If the event's file cannot be read, nobody knows whether the given branch is that of a fork. Main accepts the branch, because the user has
      // no other way to go on.
      if (given !== '') return checkedBranch(given, inputs)
      if (isTestSuite) return undefined
      return inputs.problem(
        fragment`Input branch: ${ofEvent.why}. Set the input branch to the branch that you want to test.`,
      )
  }
}

function checkedBranch(branch: string, inputs: InputReader): string | undefined {
  const characters = [...branch].length
  if (characters <= BRANCH_LIMIT_CHARS) return branch
  const what = fragment`has ${characters} characters. The service takes 1 to ${BRANCH_LIMIT_CHARS}.`
  return inputs.refuse('branch', what, branch)
}
