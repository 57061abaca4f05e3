import { readFileSync } from 'node:fs'
import { fieldsOf } from '../text/json.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'

export interface WorkflowEvent {
  readonly name: string
  /** The repository in which the workflow runs. */
  readonly repository: Repository
  readonly ref: { readonly name: string; readonly isTag: boolean }
  /** The hash of the commit that the event is about. `GITHUB_SHA` of a pull request is another commit, which merges it. */
  readonly commit: string
  /** Empty if the event's file cannot be read. */
  readonly payload: EventPayload
  /** Says that the event's file cannot be read. Nobody then knows whether the event is about a fork. */
  readonly problem?: Fragment | undefined
}

/** Its types are not checked, because GitHub writes the event. */
interface EventPayload {
  readonly repository?: Repository
  readonly pull_request?: PullRequest | null
  readonly issue?: { readonly number?: number; readonly pull_request?: unknown }
  readonly workflow_run?: {
    readonly head_branch?: string | null
    readonly head_sha?: string
    readonly head_repository?: Repository | null
    readonly pull_requests?: readonly PullRequest[]
  }
}

interface Repository {
  readonly id?: number | undefined
  /** Such as `octo/shop`. */
  readonly full_name?: string | undefined
}

interface PullRequest {
  readonly number?: number
  readonly head?: { readonly ref?: string; readonly sha?: string; readonly repo?: Repository | null }
  readonly base?: { readonly repo?: Repository | null }
}

export function readEvent(env: NodeJS.ProcessEnv): WorkflowEvent {
  let payload: EventPayload = {}
  let problem: Fragment | undefined
  const path = env.GITHUB_EVENT_PATH ?? ''
  try {
    payload = fieldsOf(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // It may be half-written, because the runner writes it again for each step.
    problem = fragment`the file of the event (GITHUB_EVENT_PATH is "${path}") cannot be read`
  }
  return {
    name: env.GITHUB_EVENT_NAME ?? '',
    repository: {
      id: payload.repository?.id ?? (Number(env.GITHUB_REPOSITORY_ID) || undefined),
      full_name: payload.repository?.full_name ?? env.GITHUB_REPOSITORY,
    },
    ref: refOf(env),
    commit: payload.pull_request?.head?.sha ?? payload.workflow_run?.head_sha ?? env.GITHUB_SHA ?? '',
    payload,
    problem,
  }
}

/** A server or a tool that is not GitHub may set only GITHUB_REF, such as `refs/tags/v1`. */
function refOf({ GITHUB_REF: ref = '', GITHUB_REF_NAME: name, GITHUB_REF_TYPE: type }: NodeJS.ProcessEnv) {
  return {
    name: name || ref.replace(/^refs\/(?:heads|tags)\//, ''),
    isTag: type ? type === 'tag' : ref.startsWith('refs/tags/'),
  }
}

/** What the event says about the branch to test. `fork` is a branch in another repository, where the service would not look for it. */
type EventBranch =
  | { readonly kind: 'branch' | 'fork'; readonly name: string }
  | { readonly kind: 'none'; readonly why: Fragment }

// What the names of events say, as on GitHub's page "Events that trigger workflows".
const NEVER_ABOUT_A_FORK = ['push', 'merge_group', 'workflow_dispatch', 'schedule']
/** The ref of a deployment may be a branch, a tag or a commit, and a release has a tag. */
const WITHOUT_BRANCH = ['deployment', 'deployment_status', 'release']

/** The branch that the event is about. GitHub shows the check beside the code of this branch, so this branch must be tested. */
export function branchOfEvent(event: WorkflowEvent): EventBranch {
  const { name, payload, problem } = event
  if (NEVER_ABOUT_A_FORK.includes(name)) return branchOfRef(event)
  if (problem !== undefined) return { kind: 'none', why: problem }
  if (name === 'workflow_run')
    return headBranch(payload.workflow_run?.head_branch, payload.workflow_run?.head_repository, event)
  if (payload.pull_request || name.startsWith('pull_request'))
    return headBranch(payload.pull_request?.head?.ref, payload.pull_request?.head?.repo, event)
  // A comment on a pull request is the event `issue_comment`, whose payload does not have the branch.
  const hasNoBranch = WITHOUT_BRANCH.includes(name) || payload.issue?.pull_request
  return hasNoBranch ? namesNoBranch(event) : branchOfRef(event)
}

/** What the workflow runs on. */
function branchOfRef(event: WorkflowEvent): EventBranch {
  const { name, isTag } = event.ref
  if (isTag) return { kind: 'none', why: fragment`this workflow run is about "${name}", and a tag is no branch` }
  return name === '' ? namesNoBranch(event) : { kind: 'branch', name }
}

function headBranch(
  branch: string | null | undefined,
  repository: Repository | null | undefined,
  event: WorkflowEvent,
): EventBranch {
  if (!branch) return namesNoBranch(event)
  // If the fork was deleted, its repository is null. If the event does not say where the branch is, it may be in a fork.
  return { kind: isThisRepository(repository, event) ? 'branch' : 'fork', name: branch }
}

function namesNoBranch({ name }: WorkflowEvent): EventBranch {
  return { kind: 'none', why: fragment`the event ${name} names no branch of this repository` }
}

/** GitHub sends the id, which stays the same when a repository is renamed. Other servers and tools may send only the name. */
function isThisRepository(found: Repository | null | undefined, { repository }: WorkflowEvent): boolean {
  if (found?.id !== undefined && repository.id !== undefined) return found.id === repository.id
  return found?.full_name !== undefined && found.full_name.toLowerCase() === repository.full_name?.toLowerCase()
}

/**
 * The number of the pull request that the comment is written on. The event contains it, or is a comment on it, or is a workflow
 * run with exactly one pull request. A merge group has none, because it may contain several.
 */
export function pullRequestOfEvent(event: WorkflowEvent): number | undefined {
  const { pull_request: pullRequest, issue, workflow_run: workflowRun } = event.payload
  // GitHub also lists pull requests of other repositories, such as forks. Their numbers belong to those repositories.
  const [only, ...others] = (workflowRun?.pull_requests ?? []).filter(({ base, head }) =>
    [base, head].every((side) => isThisRepository(side?.repo, event)),
  )
  const ofWorkflowRun = others.length === 0 ? only : undefined
  const found = pullRequest ?? (issue?.pull_request ? issue : ofWorkflowRun)
  return found?.number || undefined
}
