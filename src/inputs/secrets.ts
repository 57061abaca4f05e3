import { branchOfEvent, type WorkflowEvent } from '../github/event.ts'
import { fragment } from '../text/safe-text.ts'
import type { InputReader } from './input-reader.ts'

/** For each message that tells the user to skip a job. */
export const SKIPPED_PASSES = fragment`A skipped job counts as passed, so a required check then passes although nothing was tested.`

/** Why GitHub gave this workflow run no secrets. Undefined if the event gives no reason. */
export function whyNoSecrets(event: WorkflowEvent): 'fork' | 'dependabot' | undefined {
  const { name, payload } = event
  // pull_request_target runs with the base repository's secrets.
  const isUntrusted = name.startsWith('pull_request') && name !== 'pull_request_target'
  // The author counts, because a re-run by a person changes the actor and still gets no secrets.
  const author = payload.pull_request?.user?.login ?? payload.sender?.login
  const hasDependabotRules = isUntrusted || ['push', 'create', 'deployment', 'deployment_status'].includes(name)
  if (author === 'dependabot[bot]' && hasDependabotRules) return 'dependabot'
  return isUntrusted && branchOfEvent(event).kind === 'fork' ? 'fork' : undefined
}

export function isForkWithoutSecrets(inputs: InputReader, event: WorkflowEvent): boolean {
  return inputs.text('api-key') === '' && whyNoSecrets(event) === 'fork'
}
