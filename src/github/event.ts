import { readFileSync } from 'node:fs'
import { fieldsOf } from '../text/json.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'

export interface WorkflowEvent {
  readonly name: string
  readonly repository: Repository
  /** The commit that the workflow runs on. On a pull request, it may be the merge commit. */
  readonly commit: string
  readonly ref: { readonly name: string; readonly type: string }
  /** Empty if the event's file cannot be read. */
  readonly payload: EventPayload
  /** Says that the event's file cannot be read. Nobody then knows whether the event is about a fork. */
  readonly problem?: Fragment | undefined
}

/** Its types are not checked, because GitHub writes the event. */
interface EventPayload {
  readonly repository?: Repository & { readonly default_branch?: string }
  readonly sender?: { readonly login?: string }
  readonly pull_request?: PullRequest | null
  readonly issue?: { readonly number?: number; readonly pull_request?: unknown }
  readonly workflow_run?: CommitHead & { readonly event?: string; readonly pull_requests?: readonly PullRequest[] }
  readonly check_suite?: CommitHead
  readonly check_run?: { readonly check_suite?: CommitHead }
  readonly deployment?: { readonly ref?: string }
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

/** Reads the event from the runner's variables and its file. */
export function readEvent(env: NodeJS.ProcessEnv): WorkflowEvent {
  const path = env.GITHUB_EVENT_PATH ?? ''
  const read = readPayload(path)
  const payload = read ?? {}
  return {
    name: env.GITHUB_EVENT_NAME ?? '',
    repository: payload.repository ?? {
      id: Number(env.GITHUB_REPOSITORY_ID) || undefined,
      full_name: env.GITHUB_REPOSITORY,
    },
    commit: env.GITHUB_SHA ?? '',
    ref: { name: env.GITHUB_REF_NAME ?? '', type: env.GITHUB_REF_TYPE ?? '' },
    payload,
    problem:
      read === undefined ? fragment`the file of the event (GITHUB_EVENT_PATH is "${path}") cannot be read` : undefined,
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

/** What the event says about the branch to test. */
export type EventBranch =
  /** `info` is for the log. Present if a user may expect another branch. */
  | { readonly kind: 'branch'; readonly name: string; readonly info?: Fragment | undefined }
  /** The event is about a tag, so the service tests the project's default branch. */
  | { readonly kind: 'none'; readonly info: Fragment }
  /** The branch is in another repository, where the service would not look for it. */
  | { readonly kind: 'fork'; readonly name: string }
  /** The event is about a branch, but does not say about which. */
  | { readonly kind: 'unknown'; readonly reason: Fragment }

/** The branch that the event is about, so that the check is about the code that GitHub shows it for. */
export function branchOfEvent(event: WorkflowEvent): EventBranch {
  const { name, payload, problem, repository, ref } = event
  if (['push', 'merge_group', 'workflow_dispatch', 'schedule', 'release'].includes(name)) return branchOfRef(ref)
  if (problem !== undefined) {
    return unknown(fragment`${problem}, so the step does not know which branch to test. ${NAME_IT}`)
  }
  const { pull_request: pullRequest, issue, deployment } = payload
  const head = (branch: string | null | undefined, isOfFork: boolean): EventBranch => {
    if (branch) return { kind: isOfFork ? 'fork' : 'branch', name: branch }
    return unknown(
      fragment`the event ${name} names no branch of this repository. One possible cause is a commit of a fork. ${NAME_IT}`,
    )
  }
  if (['workflow_run', 'check_suite', 'check_run'].includes(name)) {
    // If the commit of a check is a fork's, GitHub names no branch.
    const about = payload.workflow_run ?? payload.check_suite ?? payload.check_run?.check_suite
    const found = head(about?.head_branch, isOtherRepository(about?.head_repository, repository))
    return found.kind === 'branch' ? branchOrTag(found.name, payload) : found
  }
  if (pullRequest || name.startsWith('pull_request')) {
    return head(pullRequest?.head?.ref, isFork(pullRequest ?? {}, repository))
  }
  // GitHub's API knows the branch. But the verdict must not need a token, so the workflow asks for the branch itself.
  if (issue?.pull_request) {
    return unknown(
      fragment`the event ${name} does not name the branch of the pull request. ${NAME_IT} The recipe examples/workflows/on-comment.yml of this action shows how.`,
    )
  }
  if (name === 'deployment' || name === 'deployment_status') {
    return unknown(
      fragment`the event ${name} does not say whether "${deployment?.ref ?? ''}" is a branch. If it is a branch, set the input "branch" to \${{ github.event.deployment.ref }}. If it is a commit, the recipe examples/workflows/vercel-preview.yml of this action shows how to find its branch.`,
    )
  }
  const found = branchOfRef(ref)
  if (found.kind !== 'branch') return found
  const info = fragment`Testing the branch "${ref.name}", because the workflow runs on it. The event ${name} names no other branch. To test another branch, set the input "branch".`
  return { ...found, info }
}

const NAME_IT = fragment`Set the input "branch" to the branch that you want to test.`

function unknown(reason: Fragment): EventBranch {
  return { kind: 'unknown', reason }
}

/** Events whose workflow run may be about a tag. A workflow run of the event `release` always is. */
const MAY_BE_ABOUT_A_TAG = ['push', 'workflow_dispatch', 'create', 'deployment', 'deployment_status']

/** For a workflow run that is about a tag, GitHub writes the name of the tag in the place of the branch. */
function branchOrTag(name: string, { workflow_run: workflowRun, repository }: EventPayload): EventBranch {
  const event = workflowRun?.event ?? ''
  if (event === 'release') return branchOfRef({ name, type: 'tag' })
  if (!MAY_BE_ABOUT_A_TAG.includes(event) || name === repository?.default_branch) return { kind: 'branch', name }
  const info = fragment`Testing the branch "${name}", because the event names it. GitHub writes the name of a tag in the same place. If "${name}" is a tag, set the input "branch".`
  return { kind: 'branch', name, info }
}

function branchOfRef({ name, type }: WorkflowEvent['ref']): EventBranch {
  if (type === 'branch') return { kind: 'branch', name }
  const info = fragment`This workflow run is about "${name}", which is not a branch, so the project's default branch is tested. To test another branch, set the input "branch".`
  return { kind: 'none', info }
}

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
  // GitHub also lists pull requests of other repositories. In this repository, these numbers belong to other pull requests.
  const [only, ...others] = (workflowRun?.pull_requests ?? []).filter(({ base, head }) =>
    [base, head].every((side) => side?.repo?.id !== undefined && side.repo.id === repository.id),
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
