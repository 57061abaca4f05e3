import { readFileSync } from 'node:fs'
import type { Job } from '../outcome/step-outcome.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What the runner says about the event that started the workflow. */
export interface WorkflowEvent {
  /** `push`, `pull_request`, … */
  readonly name: string
  readonly actor: string
  /** The repository that the workflow runs in. */
  readonly repository: Repository
  /** The branch or tag that the workflow runs on. */
  readonly ref: { readonly name: string; readonly type: string }
  /** Empty outside pull requests. */
  readonly headRef: string
  readonly payload: EventPayload
}

/** The parts of GitHub's payloads that the action looks at. Each may be missing: they depend on the event. */
export interface EventPayload {
  readonly repository?: Repository & { readonly default_branch?: string }
  readonly sender?: Account
  readonly pull_request?: PullRequest | null
  readonly issue?: { readonly number?: number; readonly updated_at?: string; readonly pull_request?: unknown }
  readonly workflow_run?: {
    readonly head_branch?: string | null
    readonly head_repository?: Repository | null
    readonly updated_at?: string
    readonly pull_requests?: readonly PullRequest[]
  }
  readonly check_suite?: CheckSuite
  readonly check_run?: { readonly check_suite?: CheckSuite }
  readonly deployment?: { readonly ref?: string; readonly sha?: string }
}

interface Account {
  readonly login?: string
}

export interface Repository {
  readonly id?: number | undefined
  readonly full_name?: string | undefined
}

/** As a payload or GitHub's API has it. */
export interface PullRequest {
  readonly number?: number
  readonly updated_at?: string
  readonly user?: Account | null
  readonly head?: { readonly ref?: string; readonly label?: string; readonly repo?: Repository | null }
  readonly base?: { readonly repo?: Repository | null }
}

interface CheckSuite {
  readonly head_branch?: string | null
  readonly head_sha?: string
}

/** Reads the event from the runner's variables and its file. The payload is empty if the file is missing or broken. */
export function readEvent(env: Environment): WorkflowEvent {
  const payload = readPayload(env.GITHUB_EVENT_PATH ?? '')
  return {
    name: env.GITHUB_EVENT_NAME ?? '',
    actor: env.GITHUB_ACTOR ?? '',
    repository: payload.repository ?? {
      id: Number(env.GITHUB_REPOSITORY_ID) || undefined,
      full_name: env.GITHUB_REPOSITORY,
    },
    ref: { name: env.GITHUB_REF_NAME ?? '', type: env.GITHUB_REF_TYPE ?? '' },
    headRef: env.GITHUB_HEAD_REF ?? '',
    payload,
  }
}

function readPayload(path: string): EventPayload {
  try {
    const payload = JSON.parse(readFileSync(path, 'utf8'))
    return typeof payload === 'object' && payload !== null ? payload : {}
  } catch {
    return {}
  }
}

/** The code that an event is about, if that is not simply what the workflow runs on. */
export interface Head {
  /** Absent if GitHub names none. */
  readonly branch?: string | undefined
  readonly isFork: boolean
}

export function headOfEvent(event: WorkflowEvent): Head | undefined {
  const { name, payload, repository, headRef } = event
  const { pull_request: pullRequest, workflow_run: workflowRun } = payload
  switch (name) {
    case 'workflow_run':
      return {
        branch: workflowRun?.head_branch || undefined,
        isFork: isOther(workflowRun?.head_repository, repository),
      }
    // GitHub names no branch here if the commit is a fork's.
    case 'check_suite':
      return { branch: payload.check_suite?.head_branch || undefined, isFork: false }
    case 'check_run':
      return { branch: payload.check_run?.check_suite?.head_branch || undefined, isFork: false }
    // Without its file nobody knows which pull request the comment is on.
    case 'issue_comment':
      return payload.issue ? undefined : { isFork: false }
  }
  if (pullRequest) return headOf(pullRequest, repository)
  return name.startsWith('pull_request') ? { branch: headRef || undefined, isFork: false } : undefined
}

export function headOf({ head }: PullRequest, repository: Repository): Head {
  return { branch: head?.ref || undefined, isFork: isOther(head?.repo, repository) }
}

/** Whether a head's repository is another than ours. A repository that was deleted, which is null, was a fork. */
function isOther(head: Repository | null | undefined, own: Repository): boolean {
  if (head === undefined) return false
  if (head === null) return true
  if (head.id !== undefined && own.id !== undefined) return head.id !== own.id
  return head.full_name?.toLowerCase() !== own.full_name?.toLowerCase()
}

const DEPENDABOT = 'dependabot[bot]'
/** The events in which GitHub gives a workflow started by Dependabot no Actions secrets. */
const EVENTS_WITHOUT_SECRETS_FOR_DEPENDABOT = [
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'push',
  'create',
  'deployment',
  'deployment_status',
]

/** Why GitHub gave the workflow no secrets; undefined if it did not withhold them. */
export function whyNoSecrets(event: WorkflowEvent): 'fork' | 'dependabot' | undefined {
  const { name, actor, payload } = event
  // The author counts: a re-run by a person changes the actor, not the rule.
  const author = payload.pull_request?.user?.login ?? payload.sender?.login ?? actor
  if (author === DEPENDABOT && EVENTS_WITHOUT_SECRETS_FOR_DEPENDABOT.includes(name)) return 'dependabot'
  // pull_request_target and workflow_run run with the base repository's secrets.
  const hasForkRules = name.startsWith('pull_request') && name !== 'pull_request_target'
  return hasForkRules && headOfEvent(event)?.isFork ? 'fork' : undefined
}

/** The pull request that an event is about, as far as its payload tells. */
export interface EventPullRequest {
  readonly number: number
  /** GitHub's time of the pull request, the comment or the run at the moment of the event, which is no later than it. */
  readonly updatedAt?: string | undefined
  /** The branch of its head, with the owner if that is a fork's; absent if only GitHub's API can tell. */
  readonly headLabel?: string | undefined
}

/**
 * The pull request that an event is about, on which the comment belongs:
 *
 * - any event that carries a pull request (`pull_request`, `pull_request_target`, `pull_request_review`, …): that one;
 * - `issue_comment` (and `issues`) on a pull request: that one; on an issue: none;
 * - `workflow_run`: the pull request of the run that triggered it, if there is exactly one from a branch of this
 *   repository to another. GitHub lists none for forks, and may list those of other repositories, whose numbers mean
 *   something else here;
 * - everything else (`push`, `merge_group`, `schedule`, `workflow_dispatch`, …): none. A merge group may hold several
 *   pull requests, and its verdict stands in the queue.
 */
export function pullRequestOfEvent({ payload, repository }: WorkflowEvent): EventPullRequest | undefined {
  const { pull_request: pullRequest, issue, workflow_run: workflowRun } = payload
  if (pullRequest) return found(pullRequest, pullRequest.updated_at, headLabel(pullRequest, repository))
  if (issue?.pull_request) return found(issue, issue.updated_at)
  const [only, ...others] = (workflowRun?.pull_requests ?? []).filter(({ base, head }) =>
    [base, head].every((end) => end?.repo?.id !== undefined && end.repo.id === repository.id),
  )
  return only === undefined || others.length > 0
    ? undefined
    : found(only, workflowRun?.updated_at, headLabel(only, repository))
}

function found(
  { number = 0 }: { readonly number?: number },
  updatedAt: string | undefined,
  label?: string,
): EventPullRequest | undefined {
  return number > 0 ? { number, updatedAt, headLabel: label } : undefined
}

/** A fork's branch may have the same name as one of ours, so it is named with its owner, as GitHub does. */
export function headLabel(pullRequest: PullRequest, repository: Repository): string | undefined {
  const { branch, isFork } = headOf(pullRequest, repository)
  return isFork ? (pullRequest.head?.label ?? `fork:${branch ?? ''}`) : branch
}

/** This job and the address of its page; the workflow run's, on a server that does not tell the job's id. */
export function readJob(env: Environment): Job | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: runId } = env
  if (!server || !repository || !runId) return undefined
  const run = `${server}/${repository}/actions/runs/${runId}`
  const jobId = env['INPUT_CHECK-RUN-ID'] ?? ''
  const url = /^\d+$/.test(jobId) ? `${run}/job/${jobId}` : `${run}/attempts/${env.GITHUB_RUN_ATTEMPT || '1'}`
  return { name: env.GITHUB_JOB ?? '', url }
}
