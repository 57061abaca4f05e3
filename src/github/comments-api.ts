import type { Clock } from '../clock.ts'
import { type Untrusted, untrusted } from '../outcome/untrusted.ts'
import { VERSION } from '../version.ts'
import { fieldsOf } from './json-fields.ts'

/** Why GitHub's API did not do what it was asked. */
export type GitHubFailure =
  /** None came, or none of this API's: a proxy's page, a body cut short. */
  | { readonly kind: 'no-response'; readonly reason: Untrusted }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'status'; readonly status: number; readonly message: Untrusted }

export class GitHubError extends Error {
  override readonly name = 'GitHubError'
  readonly failure: GitHubFailure

  constructor(failure: GitHubFailure, options?: ErrorOptions) {
    super(failure.kind, options)
    this.failure = failure
  }
}

export interface Comment {
  readonly id: number
  /** The login of its author; absent for a deleted account. */
  readonly author?: string
  readonly body: string
  readonly url: string
}

/** The comments of one pull request. Every method fails with a GitHubError. */
export interface PullRequestComments {
  /** All of them, the oldest first. */
  list(): Promise<readonly Comment[]>
  /** The login of whom the token speaks for. */
  whoAmI(): Promise<string>
  create(body: string): Promise<Comment>
  /** Undefined where somebody has deleted the comment meanwhile. */
  update(id: number, body: string): Promise<Comment | undefined>
  delete(id: number): Promise<void>
}

export interface GitHubAccess {
  readonly token: string
  /** `GITHUB_API_URL`: on GitHub Enterprise Server `https://HOST/api/v3`. */
  readonly apiUrl: string
  readonly owner: string
  readonly repo: string
  readonly pullRequest: number
  readonly signal: AbortSignal
  readonly clock: Clock
}

const REQUEST_LIMIT_MS = 10_000
const ACTIONS_BOT_LOGIN = 'github-actions[bot]'
/** The most that the API gives at once. */
const PAGE_SIZE = 100
/** What GitHub's documentation asks for where a rate limit's answer names no time. */
const UNNAMED_RATE_LIMIT_MS = 60_000

// Octokit's own lines (of a deprecation, say) would take text of the server past the action's log.
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/**
 * The comments of a pull request, over `@actions/github`, whose octokit brings no retry and no throttling. That
 * package is loaded here and not before, for a step without a comment does not need it. Loading it reads the event
 * file, and fails where that is malformed.
 */
export async function openPullRequestComments(access: GitHubAccess): Promise<PullRequestComments> {
  const { getOctokit } = await import('@actions/github')
  const { owner, repo, pullRequest, signal, clock } = access
  const baseUrl = access.apiUrl.replace(/\/+$/, '')
  const octokit = getOctokit(access.token, { baseUrl, userAgent: `test-run-action/${VERSION}` })
  const { issues } = octokit.rest

  return {
    async list() {
      const comments: Comment[] = []
      // Not octokit.paginate: it takes a page whose body was cut short for an empty one, and our comment for missing.
      for (let page = 1; ; page++) {
        const { data, headers } = await ask((request) =>
          issues.listComments({ owner, repo, issue_number: pullRequest, per_page: PAGE_SIZE, page, request }),
        )
        if (!Array.isArray(data)) throw notOfThisApi()
        comments.push(...data.map(toComment))
        // A gateway in between may drop the header; a full page then asks for the next.
        const isLast = headers.link === undefined ? data.length < PAGE_SIZE : !headers.link.includes('rel="next"')
        if (isLast) return comments
      }
    },

    // GET /user refuses the workflow's own token, and every other token of an app. This query answers all kinds alike:
    // with `github-actions[bot]` for the workflow's own, which is the login that the comments of that token bear.
    async whoAmI() {
      const answer = await ask((request) => octokit.graphql('{ viewer { login } }', { request })).catch((error) => {
        // No GraphQL here, or not for this token: by far the most tokens are the workflow's own.
        if (error instanceof GitHubError && isRefusal(error.failure)) return { viewer: { login: ACTIONS_BOT_LOGIN } }
        throw error
      })
      const { login } = fieldsOf(fieldsOf(answer).viewer)
      if (typeof login !== 'string') throw notOfThisApi()
      return login
    },

    async create(body) {
      const { data } = await ask((request) =>
        issues.createComment({ owner, repo, issue_number: pullRequest, body, request }),
      )
      return toComment(data)
    },

    async update(id, body) {
      const answer = await unlessGone((request) => issues.updateComment({ owner, repo, comment_id: id, body, request }))
      return answer === undefined ? undefined : toComment(answer.data)
    },

    async delete(id) {
      await unlessGone((request) => issues.deleteComment({ owner, repo, comment_id: id, request }))
    },
  }

  async function ask<T>(send: (request: { signal: AbortSignal; log: typeof SILENT }) => Promise<T>): Promise<T> {
    const limited = AbortSignal.any([signal, clock.timeout(REQUEST_LIMIT_MS)])
    try {
      return await send({ signal: limited, log: SILENT })
    } catch (error) {
      if (limited.aborted) throw noAnswer('no answer in time', error)
      throw new GitHubError(failureOf(error, clock), { cause: error })
    }
  }

  async function unlessGone<T>(send: Parameters<typeof ask<T>>[0]): Promise<T | undefined> {
    try {
      return await ask(send)
    } catch (error) {
      const gone = error instanceof GitHubError && error.failure.kind === 'status' && error.failure.status === 404
      if (gone) return undefined
      throw error
    }
  }
}

function toComment(data: unknown): Comment {
  const { id, body, html_url, user } = fieldsOf(data)
  if (typeof id !== 'number') throw notOfThisApi()
  const { login } = fieldsOf(user)
  return {
    id,
    url: typeof html_url === 'string' ? html_url : '',
    body: typeof body === 'string' ? body : '',
    ...(typeof login === 'string' ? { author: login } : {}),
  }
}

function isRefusal(failure: GitHubFailure): boolean {
  return failure.kind === 'status' && failure.status < 500
}

function notOfThisApi(): GitHubError {
  return noAnswer("the answer is not one of GitHub's API, or was cut short")
}

function noAnswer(reason: string, cause?: unknown): GitHubError {
  return new GitHubError({ kind: 'no-response', reason: untrusted(reason) }, { cause })
}

function failureOf(error: unknown, clock: Clock): GitHubFailure {
  if (!(error instanceof Error)) return { kind: 'no-response', reason: untrusted(String(error)) }
  if (error.name === 'GraphqlResponseError') {
    const { errors } = error as Error & { errors?: unknown }
    const { type } = fieldsOf(Array.isArray(errors) ? errors[0] : undefined)
    if (type === 'RATE_LIMITED') return { kind: 'rate-limited', retryAfterMs: UNNAMED_RATE_LIMIT_MS }
  }
  // Octokit makes a status 500 of a request that had no answer; what it then lacks is the response.
  const { status, headers, data } = fieldsOf((error as Error & { response?: unknown }).response)
  if (typeof status !== 'number') return { kind: 'no-response', reason: untrusted(error.message) }

  const { message = error.message } = fieldsOf(data)
  const retryAfterMs = rateLimitMs(status, fieldsOf(headers), String(message), clock)
  if (retryAfterMs !== undefined) return { kind: 'rate-limited', retryAfterMs }
  return { kind: 'status', status, message: untrusted(String(message)) }
}

/**
 * How long GitHub wants to be left alone, where its answer is a rate limit's, by the rules of its documentation:
 * `retry-after`, else the reset of a primary limit that is used up, else a minute.
 */
function rateLimitMs(status: number, headers: Partial<Record<string, unknown>>, message: string, clock: Clock) {
  if (status !== 403 && status !== 429) return undefined
  const retryAfterSeconds = Number(headers['retry-after'] ?? Number.NaN)
  if (retryAfterSeconds >= 0) return retryAfterSeconds * 1000
  const resetEpochSeconds = Number(headers['x-ratelimit-reset'] ?? Number.NaN)
  if (headers['x-ratelimit-remaining'] === '0' && resetEpochSeconds >= 0) {
    return Math.max(0, resetEpochSeconds * 1000 - clock.epochMs())
  }
  return status === 429 || /rate limit/i.test(message) ? UNNAMED_RATE_LIMIT_MS : undefined
}
