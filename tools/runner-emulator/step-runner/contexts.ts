import type { Contexts, ExpressionValue, JobStatus } from './expressions.ts'

/** The event that a workflow run is about. */
export interface WorkflowEvent {
  /** `push`, `pull_request`, `workflow_run`, … */
  readonly name: string
  /** `github.event`, and the content of the file that GITHUB_EVENT_PATH names. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined
}

export type GithubContext = Readonly<Record<string, ExpressionValue>>

/**
 * The part of the `github` context that our actions and workflows may read. The event decides the branch fields unless they are
 * overridden. The default is a push to the default branch.
 */
export function githubContext(event: WorkflowEvent = { name: 'push' }, overrides: GithubContext = {}): GithubContext {
  const repository = 'octo-org/web-shop'
  return {
    action: '__self',
    actor: 'octocat',
    api_url: 'https://api.github.com',
    event: (event.payload ?? {}) as ExpressionValue,
    event_name: event.name,
    job: 'test',
    repository,
    repository_id: '1296269',
    run_attempt: '1',
    run_id: '1658821493',
    run_number: '3',
    server_url: 'https://github.com',
    sha: 'ffac537e6cbbf934b08745a378932722df287a53',
    token: 'ghs_0123456789abcdefghijABCDEFGHIJ012345',
    workflow: 'CI',
    workflow_ref: `${repository}/.github/workflows/ci.yml@refs/heads/main`,
    ...refsOf(event),
    ...overrides,
  }
}

/** The fields of the `github` context that a step sees as variables. If a field does not apply, its variable is empty. */
export function githubVariables(github: GithubContext): Record<string, string> {
  const fields = Object.entries(github).filter(([name]) => name !== 'event' && name !== 'token')
  return Object.fromEntries(fields.map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, String(value ?? '')]))
}

/** `head_ref` and `base_ref` are empty outside pull requests. */
function refsOf({ name, payload = {} }: WorkflowEvent) {
  const ref = refOf(name, payload)
  const isPullRequest = name.startsWith('pull_request')
  return {
    ref,
    ref_name: ref.replace(/^refs\/(heads|tags|pull)\//, ''),
    ref_type: ref.startsWith('refs/tags/') ? 'tag' : 'branch',
    head_ref: isPullRequest ? textAt(payload, 'pull_request', 'head', 'ref') : '',
    base_ref: isPullRequest ? textAt(payload, 'pull_request', 'base', 'ref') : '',
  }
}

function refOf(name: string, payload: unknown): string {
  const defaultBranch = `refs/heads/${textAt(payload, 'repository', 'default_branch') || 'main'}`
  switch (name) {
    case 'pull_request':
    case 'pull_request_review':
    case 'pull_request_review_comment':
      return `refs/pull/${textAt(payload, 'number') || textAt(payload, 'pull_request', 'number') || '1'}/merge`
    case 'merge_group':
      return textAt(payload, 'merge_group', 'head_ref')
    case 'release':
      return `refs/tags/${textAt(payload, 'release', 'tag_name')}`
    case 'push':
    case 'workflow_dispatch':
      return textAt(payload, 'ref') || defaultBranch
    default:
      return defaultBranch
  }
}

function textAt(payload: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined | null)?.[key],
    payload,
  )
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

/** The contexts that the defaults of our inputs use. */
export function contextsOf(matrix: unknown, status: JobStatus): Contexts {
  return { job: { check_run_id: 21454321098, status }, matrix: (matrix ?? null) as ExpressionValue }
}
