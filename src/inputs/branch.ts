import { branchOfEvent, type WorkflowEvent } from '../github/event.ts'
import { BRANCH_LIMIT_CHARS, isSameBranch } from '../model/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import type { InputReader } from './input-reader.ts'
import { SKIPPED_PASSES } from './service-address.ts'

interface Branch {
  /** If it is undefined, main sends no branch, and the service tests the project's default branch. */
  readonly name?: string | undefined
  /** For the log. */
  readonly info?: Fragment | undefined
}

/**
 * The branch that the user gives, or else the event's branch. Records a problem if the check would then be about other code
 * than the code that GitHub shows it for.
 */
export function readBranch(inputs: InputReader, event: WorkflowEvent): Branch {
  const given = inputs.text('branch')
  const ofEvent = branchOfEvent(event)
  // If the event's file cannot be read, main accepts a branch that the user gives. Nothing says then that it is a fork's, and the
  // message about this file asks the user to name the branch.
  const isOfFork = ofEvent.kind === 'fork' && isSameBranch(given, ofEvent.name)
  const branch: typeof ofEvent = given === '' || isOfFork ? ofEvent : { kind: 'branch', name: given }
  switch (branch.kind) {
    case 'branch': {
      const characters = [...branch.name].length
      if (characters > BRANCH_LIMIT_CHARS) {
        inputs.problem(
          fragment`Input branch: "${branch.name}" has ${characters} characters. The service takes 1 to ${BRANCH_LIMIT_CHARS}.`,
        )
      }
      return branch
    }
    case 'none':
      return { info: branch.info }
    case 'fork':
      inputs.problem(
        fragment`Input branch: this workflow run is about the branch "${branch.name}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. ${SKIPPED_PASSES}`,
      )
      return {}
    case 'unknown':
      inputs.problem(fragment`Input branch: ${branch.reason}`)
      return {}
  }
}
