import { readFileSync } from 'node:fs'

/** The parts of the event's payload that the action looks at. Everything may be missing: nobody validated it. */
export interface EventPayload {
  readonly repository?: Repository
  readonly sender?: { readonly login?: string }
  readonly pull_request?: {
    readonly user?: { readonly login?: string }
    readonly head?: { readonly ref?: string; readonly repo?: Repository | null }
    readonly base?: { readonly repo?: Repository | null }
  }
  readonly workflow_run?: {
    readonly head_branch?: string
    readonly head_repository?: Repository | null
    readonly actor?: { readonly login?: string }
  }
}

interface Repository {
  readonly id?: number
  readonly full_name?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The event that started the workflow; empty where the runner's file is missing or broken. */
export function readEvent(env: Environment): EventPayload {
  try {
    const payload = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH ?? '', 'utf8'))
    return typeof payload === 'object' && payload !== null ? payload : {}
  } catch {
    return {}
  }
}

/** The branch that a fork wants to have tested; undefined where the event is not about a fork. */
export function forkBranch(env: Environment, event: EventPayload): string | undefined {
  const { pull_request: pull, workflow_run: workflowRun } = event
  const own = pull?.base?.repo ?? event.repository ?? {}
  const name = own.full_name ?? env.GITHUB_REPOSITORY
  const isFork = (head: Repository | null | undefined) => {
    if (head === undefined) return false
    if (head === null) return true // a repository that is gone was a fork
    if (head.id !== undefined && own.id !== undefined) return head.id !== own.id
    return head.full_name?.toLowerCase() !== name?.toLowerCase()
  }
  if (isFork(pull?.head?.repo)) return pull?.head?.ref
  if (isFork(workflowRun?.head_repository)) return workflowRun?.head_branch
  return undefined
}

const DEPENDABOT = 'dependabot[bot]'

/** Why the workflow was given no secrets, where that is so by GitHub's rules. */
export function whyNoSecrets(env: Environment, event: EventPayload): 'fork' | 'dependabot' | undefined {
  // The author counts: a re-run by a person changes the actor, not the rule.
  const author = event.pull_request?.user?.login ?? event.sender?.login ?? env.GITHUB_ACTOR
  if (author === DEPENDABOT || env.GITHUB_ACTOR === DEPENDABOT) return 'dependabot'
  // pull_request_target and workflow_run run with the base repository's secrets.
  const hasForksRules =
    env.GITHUB_EVENT_NAME?.startsWith('pull_request') && env.GITHUB_EVENT_NAME !== 'pull_request_target'
  return hasForksRules && forkBranch(env, event) !== undefined ? 'fork' : undefined
}

/** The page of this workflow run, where the comment and the summary of the reports lead. */
export function jobUrl(env: Environment): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: runId } = env
  if (!server || !repository || !runId) return undefined
  return `${server}/${repository}/actions/runs/${runId}/attempts/${env.GITHUB_RUN_ATTEMPT || '1'}`
}
