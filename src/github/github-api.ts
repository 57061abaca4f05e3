import type { Clock } from '../clock.ts'
import { fieldsOf } from '../text/json.ts'
import { VERSION } from '../version.ts'
import type { PullRequest, WorkflowEvent } from './event.ts'

export class GitHubError extends Error {
  override readonly name = 'GitHubError'
  /** A number is the status of GitHub's response. `unreachable`: only a proxy responded, or nobody. */
  readonly failure: number | 'unreachable' | 'rate-limit'

  constructor(failure: GitHubError['failure'], reason: string) {
    const clauses = {
      unreachable: `GitHub's API gave no usable response (${reason})`,
      'rate-limit': "GitHub's API limits the rate of requests",
    }
    super(typeof failure === 'string' ? clauses[failure] : `GitHub responded with status ${failure} (${reason})`)
    this.failure = failure
  }
}

export interface Comment {
  readonly id: number
  /** The login of the author. Absent if the account was deleted. */
  readonly author?: string | undefined
  readonly body: string
  readonly url: string
}

export interface GitHubAccess {
  readonly env: NodeJS.ProcessEnv
  readonly event: WorkflowEvent
  readonly token: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

const REQUEST_LIMIT_MS = 10_000
const RETRY_PAUSE_MS = 1_000
const PAGE_SIZE = 100
/** GitHub allows 2,500 comments on a pull request. */
const MOST_PAGES = 25

// Octokit's own log lines, for example about a deprecation, may show text of the server that is not made safe.
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export type GitHubApi = Awaited<ReturnType<typeof openGitHubApi>>

/**
 * Opens what the action asks of GitHub about its repository. Every method fails with a GitHubError. Loads
 * `@actions/github` only now, because most steps do not need it. Its Octokit does not repeat or throttle requests.
 */
export async function openGitHubApi({ env, token, clock, signal }: Omit<GitHubAccess, 'event'>) {
  const [owner, repo] = (env.GITHUB_REPOSITORY ?? '').split('/')
  if (!owner || !repo) throw new GitHubError('unreachable', 'GITHUB_REPOSITORY is not "owner/repository"')
  // Certificates are always checked. An earlier step may have set this variable, and Node reads it for each connection.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  // The import reads the event file. If the file is malformed, the import fails.
  const { getOctokit } = await import('@actions/github')
  const baseUrl = (env.GITHUB_API_URL || 'https://api.github.com').replace(/\/$/, '')
  const { origin } = new URL(baseUrl)
  const octokit = getOctokit(token, { baseUrl, userAgent: `test-run-action/${VERSION}` })

  async function attempt<T>(send: (options: Record<string, unknown>) => Promise<T>): Promise<T> {
    const limited = AbortSignal.any([signal, clock.timeout(REQUEST_LIMIT_MS)])
    try {
      return await send({ signal: limited, log: SILENT, redirect: 'manual' })
    } catch (error) {
      throw limited.aborted ? new GitHubError('unreachable', 'no response in time') : toGitHubError(error)
    }
  }

  /** Follows one redirect of a GET to the same server, because GitHub redirects if a repository was renamed. */
  function request(route: string, parameters: Record<string, unknown>) {
    return attempt(async (options) => {
      const isRead = route.startsWith('GET ')
      let response = await octokit.request(route, { owner, repo, ...parameters, request: options })
      const location = response.status < 300 ? undefined : URL.parse(response.headers.location ?? '', origin)
      if (isRead && location?.origin === origin) {
        response = await octokit.request(`GET ${location.href}`, { request: options })
      }
      if (isRead ? response.status === 200 : response.status < 300) return response
      throw new GitHubError(response.status, 'a redirect or a status that the action does not expect')
    })
  }

  /** Like `request`, but returns undefined after a 404. */
  async function requestIfFound(route: string, parameters: Record<string, unknown>) {
    try {
      return await request(route, parameters)
    } catch (error) {
      if (error instanceof GitHubError && error.failure === 404) return undefined
      throw error
    }
  }

  return {
    async listComments(pullRequest: number): Promise<readonly Comment[]> {
      const comments = new Map<number, Comment>()
      // `octokit.paginate` treats a page that was cut off as empty. Our comment would then seem to be missing.
      for (let page = 1; page <= MOST_PAGES; page++) {
        const parameters = { issue_number: pullRequest, per_page: PAGE_SIZE, page }
        const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'
        const { data, headers } = await request(route, parameters)
        const found = listOf(data).map(toComment)
        for (const comment of found) comments.set(comment.id, comment)
        // A gateway may remove the header. Without it, a full page may have a successor.
        const isLast = headers.link === undefined ? found.length < PAGE_SIZE : !headers.link.includes('rel="next"')
        if (isLast) break
      }
      return [...comments.values()]
    },

    async createComment(pullRequest: number, body: string): Promise<Comment> {
      const parameters = { issue_number: pullRequest, body }
      const { data } = await request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', parameters)
      return toComment(data)
    },

    async updateComment(id: number, body: string): Promise<Comment | undefined> {
      const route = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}'
      const found = await requestIfFound(route, { comment_id: id, body })
      return found && toComment(found.data)
    },

    async deleteComment(id: number): Promise<void> {
      const route = 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}'
      await requestIfFound(route, { comment_id: id })
    },

    /**
     * The login of the token's account. Undefined if GitHub refuses to name it. `GET /user` refuses the workflow's own
     * token. For that token, this query returns `github-actions[bot]`, which is also the author of its comments.
     */
    async whoAmI(): Promise<string | undefined> {
      try {
        const viewer = await attempt((options) => octokit.graphql('{ viewer { login } }', { request: options }))
        const { login } = fieldsOf(fieldsOf(viewer).viewer)
        if (typeof login !== 'string') throw notOfThisApi()
        return login
      } catch (error) {
        const isRefused = error instanceof GitHubError && !isTransientError(error) && error.failure !== 'rate-limit'
        if (!isRefused) throw error
        return undefined
      }
    },

    async pullRequest(number: number): Promise<PullRequest> {
      const { data } = await request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { pull_number: number })
      const { number: responseNumber, head } = fieldsOf(data)
      const { ref, label, repo: headRepository } = fieldsOf(head)
      if (responseNumber !== number || typeof ref !== 'string' || typeof headRepository !== 'object')
        throw notOfThisApi()
      return { number, head: { ref, label: stringOf(label), repo: headRepository } }
    },

    /** The hash of a ref such as `heads/main`. Undefined if there is no such ref. */
    async refHash(ref: string): Promise<string | undefined> {
      const found = await requestIfFound('GET /repos/{owner}/{repo}/git/ref/{ref}', { ref })
      if (found === undefined) return undefined
      const { ref: responseRef, object } = fieldsOf(found.data)
      const { sha } = fieldsOf(object)
      if (responseRef !== `refs/${ref}` || typeof sha !== 'string') throw notOfThisApi()
      return sha
    },

    async branchesWithHead(sha: string): Promise<readonly string[]> {
      const route = 'GET /repos/{owner}/{repo}/commits/{sha}/branches-where-head'
      const { data } = await request(route, { sha })
      return listOf(data).map((branch) => {
        const { name, commit } = fieldsOf(branch)
        if (typeof name !== 'string' || fieldsOf(commit).sha !== sha.toLowerCase()) throw notOfThisApi()
        return name
      })
    },
  }
}

/** Runs the task. If it fails with a transient error, runs it once more after a second. */
export async function withOneRetry<T>(
  task: () => Promise<T>,
  { clock, signal }: Pick<GitHubAccess, 'clock' | 'signal'>,
): Promise<T> {
  try {
    return await task()
  } catch (error) {
    if (!isTransientError(error) || signal.aborted) throw error
    await clock.sleep(RETRY_PAUSE_MS, signal)
    return await task()
  }
}

export function isTransientError(error: unknown): boolean {
  if (!(error instanceof GitHubError) || error.failure === 'rate-limit') return false
  return error.failure === 'unreachable' || error.failure >= 500
}

function toGitHubError(error: unknown): GitHubError {
  if (error instanceof GitHubError) return error
  const { name, message: reason, errors, response } = error as Error & { errors?: unknown; response?: unknown }
  if (name === 'GraphqlResponseError') {
    // GraphQL reports errors with status 200.
    const { type, message } = fieldsOf(Array.isArray(errors) ? errors[0] : undefined)
    return new GitHubError(type === 'RATE_LIMITED' ? 'rate-limit' : 200, String(message))
  }
  // If no response came, Octokit reports status 500, but its error has no `response`.
  const { status, headers, data } = fieldsOf(response)
  if (typeof status !== 'number') return new GitHubError('unreachable', reason)
  const message = String(fieldsOf(data).message ?? reason)
  return new GitHubError(isRateLimit(status, fieldsOf(headers), message) ? 'rate-limit' : status, message)
}

/** GitHub's documentation gives these signs of a rate limit. */
function isRateLimit(status: number, headers: Partial<Record<string, unknown>>, message: string): boolean {
  const saysSo = 'retry-after' in headers || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(message)
  return status === 429 || (status === 403 && saysSo)
}

function toComment(data: unknown): Comment {
  const { id, body, html_url, user } = fieldsOf(data)
  if (typeof id !== 'number') throw notOfThisApi()
  const author = stringOf(fieldsOf(user).login)
  return { id, author, url: stringOf(html_url) ?? '', body: stringOf(body) ?? '' }
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function listOf(data: unknown): readonly unknown[] {
  if (!Array.isArray(data)) throw notOfThisApi()
  return data
}

function notOfThisApi(): GitHubError {
  return new GitHubError('unreachable', "the response did not come from GitHub's API, or it is incomplete")
}
