import { readFileSync } from 'node:fs'
import { fieldsOf } from '../text/json.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'

export interface WorkflowEvent {
  readonly name: string
  readonly repository: Repository
  /** The commit that the workflow runs on. On a pull request, it may be the merge commit. */
  readonly commit: string
  readonly ref: { readonly name: string; readonly type: string }
  /** From GITHUB_HEAD_REF. Empty if the payload cannot be read, because nothing then shows whether the branch is a fork's. */
  readonly headRef: string
  readonly payload: EventPayload
}

interface EventPayload {
  readonly repository?: Repository & { readonly default_branch?: string }
  readonly sender?: { readonly login?: string }
  readonly pull_request?: PullRequest | null
  readonly issue?: { readonly number?: number; readonly pull_request?: unknown }
  readonly workflow_run?: CommitHead & { readonly pull_requests?: readonly PullRequest[] }
  readonly check_suite?: CommitHead
  readonly check_run?: { readonly check_suite?: CommitHead }
  readonly deployment?: { readonly ref?: string; readonly sha?: string }
}

interface CommitHead {
  readonly head_branch?: string | null
  readonly head_repository?: Repository | null
}

export interface Repository {
  readonly id?: number | undefined
  readonly full_name?: string | undefined
}

export interface PullRequest {
  readonly number?: number
  readonly user?: { readonly login?: string } | null
  readonly head?: {
    readonly ref?: string
    readonly sha?: string
    readonly label?: string | undefined
    readonly repo?: Repository | null
  }
  readonly base?: { readonly repo?: Repository | null }
}

/** Reads the event from the runner's variables and its file. The payload is empty if the file cannot be read. */
export function readEvent(env: NodeJS.ProcessEnv): WorkflowEvent {
  const path = env.GITHUB_EVENT_PATH ?? ''
  const read = path === '' ? {} : readPayload(path)
  const payload = read ?? {}
  return {
    name: env.GITHUB_EVENT_NAME ?? '',
    repository: payload.repository ?? {
      id: Number(env.GITHUB_REPOSITORY_ID) || undefined,
      full_name: env.GITHUB_REPOSITORY,
    },
    commit: env.GITHUB_SHA ?? '',
    ref: { name: env.GITHUB_REF_NAME ?? '', type: env.GITHUB_REF_TYPE ?? '' },
    headRef: read === undefined ? '' : (env.GITHUB_HEAD_REF ?? ''),
    payload,
  }
}

/** Undefined if the file cannot be read. It may be half-written, because the runner writes it again for each step. */
function readPayload(path: string): EventPayload | undefined {
  try {
    return fieldsOf(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** What main sends to the service as the branch, and why. */
export interface BranchChoice {
  readonly kind: 'branch'
  /** If it is undefined, main sends no branch, and the service tests the project's default branch. */
  readonly name: string | undefined
  /** For the debug log: the rule by which the branch was chosen. */
  readonly because: string
  readonly info?: Fragment | undefined
  readonly warning?: Fragment | undefined
  /** What the event is about. Set only if an empty input made us test the default branch instead. */
  readonly untested?: Fragment | undefined
}

/** What the event, or GitHub's API, says about the branch to test. */
export type FoundBranch =
  | BranchChoice
  | { readonly kind: 'branch-of-fork'; readonly name: string }
  /** The event is about a branch, and nobody can say about which. */
  | { readonly kind: 'unknown'; readonly reason: Fragment }

/** Only GitHub's API can name the branch. */
export type BranchToLookUp =
  | { readonly kind: 'pull-request'; readonly number: number }
  | { readonly kind: 'deployment'; readonly ref: string; readonly sha: string }

/** The branch that the event is about. */
export function branchOfEvent(event: WorkflowEvent): FoundBranch | BranchToLookUp {
  const { name, payload, repository, ref, headRef } = event
  const { pull_request: pullRequest, workflow_run: workflowRun, check_suite, check_run, issue, deployment } = payload
  const reason = fragment`the event ${name} names no branch of this repository. One possible cause is a commit of a fork. So the step does not know which branch to test.`
  const unknown: FoundBranch = { kind: 'unknown', reason }
  const head = (branch: string | null | undefined, because: string, isOfFork = false): FoundBranch => {
    if (!branch) return unknown
    return isOfFork ? { kind: 'branch-of-fork', name: branch } : { kind: 'branch', name: branch, because }
  }
  if (['workflow_run', 'check_suite', 'check_run'].includes(name)) {
    // If the commit of a check is a fork's, GitHub names no branch.
    const { head_branch, head_repository } = workflowRun ?? check_suite ?? check_run?.check_suite ?? {}
    return head(head_branch, "it is the event's head_branch", isOtherRepository(head_repository, repository))
  }
  if (pullRequest) return head(pullRequest.head?.ref, HEAD_OF_PULL_REQUEST, isFork(pullRequest, repository))
  if (name.startsWith('pull_request')) return head(headRef, HEAD_OF_PULL_REQUEST)
  // A pull request is also an issue, so the events `issue_comment` and `issues` may be about a pull request.
  if (issue?.pull_request) return { kind: 'pull-request', number: issue.number ?? 0 }
  // If the payload is missing, nothing says which pull request the comment is on.
  if (name === 'issue_comment' && !issue) return unknown
  if (name === 'deployment' || name === 'deployment_status') {
    return { kind: 'deployment', ref: deployment?.ref ?? '', sha: deployment?.sha ?? '' }
  }
  if (ref.type !== 'branch') return noBranch(fragment`"${ref.name}", which is not a branch`)
  const isOfBranch = ['push', 'merge_group', 'workflow_dispatch', 'schedule'].includes(name)
  const info = fragment`Testing the branch "${ref.name}", because the workflow runs on it. The event ${name} names no other branch. To test another branch, set the input "branch".`
  return { kind: 'branch', name: ref.name, because: 'the workflow runs on it', info: isOfBranch ? undefined : info }
}

const HEAD_OF_PULL_REQUEST = 'it is the head branch of the pull request'

/** The event is about no branch, for example about a tag. */
export function noBranch(subject: Fragment): BranchChoice {
  const info = fragment`This workflow run is about ${subject}, so the project's default branch is tested. To test another branch, set the input "branch".`
  return { kind: 'branch', name: undefined, because: 'the event is about no branch', info }
}

export function isFork({ head }: PullRequest, repository: Repository): boolean {
  return isOtherRepository(head?.repo, repository)
}

/** Whether the head is in another repository. If that repository was deleted, it is null, and it was a fork. */
function isOtherRepository(head: Repository | null | undefined, own: Repository): boolean {
  if (head === undefined) return false
  if (head === null) return true
  if (head.id !== undefined && own.id !== undefined) return head.id !== own.id
  return head.full_name?.toLowerCase() !== own.full_name?.toLowerCase()
}

export interface EventPullRequest {
  readonly number: number
  /** The head branch, with the owner if it is a fork's. Absent if the event does not contain it. */
  readonly headLabel?: string | undefined
}

/**
 * The pull request that the comment is written on. The event contains it, or is a comment on it, or is a workflow run
 * with exactly one pull request. A merge group has none, because it may contain several.
 */
export function pullRequestOfEvent({ payload, repository }: WorkflowEvent): EventPullRequest | undefined {
  const { pull_request: pullRequest, issue, workflow_run: workflowRun } = payload
  // GitHub also lists pull requests of other repositories. Their numbers are those of other pull requests here.
  const [only, ...others] = (workflowRun?.pull_requests ?? []).filter(({ base, head }) =>
    [base, head].every((end) => end?.repo?.id !== undefined && end.repo.id === repository.id),
  )
  const ofWorkflowRun = others.length === 0 ? only : undefined
  const found = pullRequest ?? (issue?.pull_request ? issue : ofWorkflowRun)
  return found?.number ? { number: found.number, headLabel: headLabel(found, repository) } : undefined
}

/** A fork's branch may have the name of a branch of ours. So the label names its owner, as GitHub's pages do. */
export function headLabel(pullRequest: PullRequest, repository: Repository): string | undefined {
  const { ref, label } = pullRequest.head ?? {}
  return isFork(pullRequest, repository) ? (label ?? `fork:${ref ?? ''}`) : ref || undefined
}

/** The branch or the tag of a commit that the event is about. Undefined for every other commit, and for a branch. */
export function nameOfCommit(event: WorkflowEvent, given: string | undefined): string | undefined {
  const { payload, commit, ref, repository } = event
  if (!given) return undefined
  const { pull_request: pullRequest } = payload
  const isMergeCommit = given === commit && /^\d+\/merge$/.test(ref.name)
  if (pullRequest && (isMergeCommit || given === pullRequest.head?.sha)) return headLabel(pullRequest, repository)
  return given === commit ? ref.name || undefined : undefined
}
