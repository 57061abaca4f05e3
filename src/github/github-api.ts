import type { Clock } from '../clock.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { VERSION } from '../version.ts'
import type { Environment, PullRequest } from './event.ts'

/** Why GitHub's API did not do what it was asked. */
export type GitHubFailure =
  /** No response came, or none of this API: a proxy's page, a body that was cut off. */
  | { readonly kind: 'no-response'; readonly reason: Untrusted }
  | { readonly kind: 'rate-limited' }
  | { readonly kind: 'status'; readonly status: number; readonly message: Untrusted }

export class GitHubError extends Error {
  override readonly name = 'GitHubError'
  readonly failure: GitHubFailure

  constructor(failure: GitHubFailure, options?: ErrorOptions) {
    super(`GitHub's API: ${failure.kind}`, options)
    this.failure = failure
  }
}

/** A clause: it stands in the middle of a sentence. */
export function failureText(failure: GitHubFailure): LogLine {
  switch (failure.kind) {
    case 'no-response':
      return logLine`GitHub's API could not be reached (${failure.reason})`
    case 'rate-limited':
      return logLine`GitHub's API limits the rate of requests`
    case 'status':
      return logLine`GitHub responded with status ${failure.status} (${failure.message})`
  }
}

export interface Comment {
  readonly id: number
  /** The login of its author; absent for a deleted account. */
  readonly author?: string | undefined
  readonly body: string
  readonly url: string
  readonly updatedAt: string
}

/** What the action asks of GitHub about its repository. Every method fails with a GitHubError. */
export interface GitHubApi {
  /** The comments of a pull request, the oldest first. */
  listComments(pullRequest: number): Promise<readonly Comment[]>
  createComment(pullRequest: number, body: string): Promise<Comment>
  /** Undefined if somebody has deleted the comment meanwhile. */
  updateComment(id: number, body: string): Promise<Comment | undefined>
  deleteComment(id: number): Promise<void>
  /** The login of the token's account; undefined if GitHub refuses to say. */
  whoAmI(): Promise<string | undefined>
  pullRequest(number: number): Promise<PullRequest>
  /** The hash that a ref such as `heads/main` stands for; undefined if there is no such ref. */
  refHash(ref: string): Promise<string | undefined>
  branchesWithHead(sha: string): Promise<readonly string[]>
}

export interface GitHubAccess {
  readonly env: Environment
  readonly token: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

const REQUEST_LIMIT_MS = 10_000
const RETRY_PAUSE_MS = 1_000
/** The most that the API gives at once. */
const PAGE_SIZE = 100
/** GitHub allows 2,500 comments on a pull request. */
const MOST_PAGES = 25

// Octokit's own lines (of a deprecation, say) would take text of the server past the action's log.
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/**
 * GitHub's API over `@actions/github`, whose octokit brings no retry and no throttling. That package is loaded here and
 * not before, because most steps do not need it.
 */
export async function openGitHubApi({ env, token, clock, signal }: GitHubAccess): Promise<GitHubApi> {
  const [owner, repo] = (env.GITHUB_REPOSITORY ?? '').split('/')
  if (!owner || !repo) throw noResponse(`GITHUB_REPOSITORY is "${env.GITHUB_REPOSITORY ?? ''}", not "owner/repository"`)
  // Certificates are always checked. Any earlier step can set this variable, which Node looks at for each connection.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  // Loading it reads the event file, and fails if that is malformed.
  const { getOctokit } = await import('@actions/github')
  const baseUrl = (env.GITHUB_API_URL || 'https://api.github.com').replace(/\/$/, '')
  const octokit = getOctokit(token, { baseUrl, userAgent: `test-run-action/${VERSION}` })

  async function attempt<T>(send: (request: Record<string, unknown>) => Promise<T>): Promise<T> {
    const limited = AbortSignal.any([signal, clock.timeout(REQUEST_LIMIT_MS)])
    try {
      return await send({ signal: limited, log: SILENT, redirect: 'manual' })
    } catch (error) {
      throw limited.aborted ? noResponse('no response in time', error) : toGitHubError(error)
    }
  }

  /** Follows one redirect, as of a repository that was renamed, if GitHub itself is asked again and only read from. */
  function ask(route: string, parameters: Record<string, unknown>) {
    return attempt(async (request) => {
      const isRead = route.startsWith('GET ')
      let response = await octokit.request(route, { owner, repo, ...parameters, request })
      const target = response.status < 300 ? undefined : URL.parse(response.headers.location ?? '', baseUrl)
      if (isRead && target?.origin === new URL(baseUrl).origin) {
        response = await octokit.request(`GET ${target.href}`, { request })
      }
      if (isRead ? response.status === 200 : response.status < 300) return response
      const message = untrusted('neither what was asked for nor a redirect that is followed')
      throw new GitHubError({ kind: 'status', status: response.status, message })
    })
  }

  async function unlessNotFound<T>(task: Promise<T>): Promise<T | undefined> {
    try {
      return await task
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  return {
    async listComments(pullRequest) {
      const comments = new Map<number, Comment>()
      // Not octokit.paginate: it takes a page whose body was cut off for an empty one, and our comment for missing.
      for (let page = 1; page <= MOST_PAGES; page++) {
        const parameters = { issue_number: pullRequest, per_page: PAGE_SIZE, page }
        const { data, headers } = await ask('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', parameters)
        const found = listOf(data).map(toComment)
        const isRepeated = found.some(({ id }) => comments.has(id))
        for (const comment of found) comments.set(comment.id, comment)
        // A gateway in between may drop the header; a full page then asks for the next.
        const isLast = headers.link === undefined ? found.length < PAGE_SIZE : !headers.link.includes('rel="next"')
        if (isLast || isRepeated) break
      }
      return [...comments.values()]
    },

    async createComment(pullRequest, body) {
      const parameters = { issue_number: pullRequest, body }
      const { data } = await ask('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', parameters)
      return toComment(data)
    },

    async updateComment(id, body) {
      const parameters = { comment_id: id, body }
      const found = await unlessNotFound(ask('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', parameters))
      return found && toComment(found.data)
    },

    async deleteComment(id) {
      await unlessNotFound(ask('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { comment_id: id }))
    },

    // GET /user refuses the workflow's own token, and every other token of an app. This query takes all kinds: for the
    // workflow's own it returns `github-actions[bot]`, which is the author of the comments that are made with it.
    async whoAmI() {
      try {
        const data = await attempt((request) => octokit.graphql('{ viewer { login } }', { request }))
        const { login } = fieldsOf(fieldsOf(data).viewer)
        if (typeof login !== 'string') throw notOfThisApi()
        return login
      } catch (error) {
        if (Number(statusOf(error)) < 500) return undefined
        throw error
      }
    },

    async pullRequest(number) {
      const { data } = await ask('GET /repos/{owner}/{repo}/pulls/{pull_number}', { pull_number: number })
      const { number: its, head } = fieldsOf(data)
      const { ref, repo: headRepository } = fieldsOf(head)
      if (its !== number || typeof ref !== 'string' || typeof headRepository !== 'object') throw notOfThisApi()
      return data as PullRequest
    },

    async refHash(ref) {
      const found = await unlessNotFound(ask('GET /repos/{owner}/{repo}/git/ref/{ref}', { ref }))
      if (found === undefined) return undefined
      const { ref: its, object } = fieldsOf(found.data)
      const { sha } = fieldsOf(object)
      if (its !== `refs/${ref}` || typeof sha !== 'string') throw notOfThisApi()
      return sha
    },

    async branchesWithHead(sha) {
      const { data } = await ask('GET /repos/{owner}/{repo}/commits/{sha}/branches-where-head', { sha })
      return listOf(data).map((branch) => {
        const { name, commit } = fieldsOf(branch)
        if (typeof name !== 'string' || fieldsOf(commit).sha !== sha.toLowerCase()) throw notOfThisApi()
        return name
      })
    },
  }
}

/** Does the task, and does it once more after a second if it failed for a reason that may pass. */
export async function withOneRetry<T>(
  task: () => Promise<T>,
  { clock, signal }: Pick<GitHubAccess, 'clock' | 'signal'>,
): Promise<T> {
  try {
    return await task()
  } catch (error) {
    const mayPass =
      error instanceof GitHubError && (error.failure.kind === 'no-response' || Number(statusOf(error)) >= 500)
    if (!mayPass || signal.aborted) throw error
    await clock.sleep(RETRY_PAUSE_MS, signal)
    return await task()
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof GitHubError && error.failure.kind === 'status' ? error.failure.status : undefined
}

function toGitHubError(error: unknown): GitHubError {
  if (error instanceof GitHubError) return error
  if (!(error instanceof Error)) return noResponse(String(error))
  const { errors, response } = error as Error & { errors?: unknown; response?: unknown }
  if (error.name === 'GraphqlResponseError') {
    // GraphQL refuses with status 200.
    const { type, message } = fieldsOf(Array.isArray(errors) ? errors[0] : undefined)
    if (type === 'RATE_LIMITED') return new GitHubError({ kind: 'rate-limited' }, { cause: error })
    return new GitHubError({ kind: 'status', status: 200, message: untrusted(String(message)) }, { cause: error })
  }
  // Octokit makes a status 500 of a request that had no response; what it then lacks is the response.
  const { status, headers, data } = fieldsOf(response)
  if (typeof status !== 'number') return noResponse(error.message, error)
  const { message = error.message } = fieldsOf(data)
  const failure: GitHubFailure = isRateLimit(status, fieldsOf(headers), String(message))
    ? { kind: 'rate-limited' }
    : { kind: 'status', status, message: untrusted(String(message)) }
  return new GitHubError(failure, { cause: error })
}

/** By the rules of GitHub's documentation, for the primary and the secondary limit. */
function isRateLimit(status: number, headers: Partial<Record<string, unknown>>, message: string): boolean {
  if (status === 429) return true
  const saysSo = 'retry-after' in headers || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(message)
  return status === 403 && saysSo
}

function toComment(data: unknown): Comment {
  const { id, body, html_url, user, updated_at } = fieldsOf(data)
  if (typeof id !== 'number') throw notOfThisApi()
  const { login } = fieldsOf(user)
  return {
    id,
    url: typeof html_url === 'string' ? html_url : '',
    body: typeof body === 'string' ? body : '',
    author: typeof login === 'string' ? login : undefined,
    updatedAt: typeof updated_at === 'string' ? updated_at : '',
  }
}

function listOf(data: unknown): readonly unknown[] {
  if (!Array.isArray(data)) throw notOfThisApi()
  return data
}

/** The fields of a JSON object that somebody else wrote; none if it is no object. */
function fieldsOf(value: unknown): Partial<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function notOfThisApi(): GitHubError {
  return noResponse("the response is not one of GitHub's API, or was cut off")
}

function noResponse(reason: string, cause?: unknown): GitHubError {
  return new GitHubError({ kind: 'no-response', reason: untrusted(reason) }, { cause })
}
