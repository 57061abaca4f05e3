import { fieldsOf } from './json-fields.ts'

/**
 * The number of the pull request that an event is about, from the event's payload:
 *
 * - any event that carries a pull request (`pull_request`, `pull_request_target`, `pull_request_review`, …): that one;
 * - `issue_comment` on a pull request: that one; on an issue: none;
 * - `workflow_run`: the pull request of the run that triggered it, where there is exactly one from a branch of this
 *   repository to another. GitHub lists none for forks, and may list those of other repositories, whose numbers mean
 *   something else here;
 * - everything else (`push`, `merge_group`, `schedule`, `workflow_dispatch`, …): none. A merge group may hold several
 *   pull requests, and its verdict stands in the queue.
 */
export function pullRequestOfEvent(event: unknown): number | undefined {
  const { pull_request, issue, workflow_run, repository } = fieldsOf(event)
  const onPullRequest = numberOf(pull_request) ?? (fieldsOf(issue).pull_request ? numberOf(issue) : undefined)
  return onPullRequest ?? pullRequestOfRun(fieldsOf(workflow_run).pull_requests, fieldsOf(repository).id)
}

function pullRequestOfRun(pullRequests: unknown, repositoryId: unknown): number | undefined {
  if (!Array.isArray(pullRequests) || typeof repositoryId !== 'number') return undefined
  const [only, ...others] = pullRequests.filter((pullRequest) => {
    const { base, head } = fieldsOf(pullRequest)
    return [base, head].every((end) => fieldsOf(fieldsOf(end).repo).id === repositoryId)
  })
  return others.length === 0 ? numberOf(only) : undefined
}

function numberOf(issue: unknown): number | undefined {
  const { number } = fieldsOf(issue)
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined
}
