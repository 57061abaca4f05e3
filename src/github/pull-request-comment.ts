import { readFile } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { type Untrusted, untrusted } from '../outcome/untrusted.ts'
import { type CommentIdentity, commentIdentity, hasMarker, isNewer, parseId } from './comment-identity.ts'
import { GitHubError, type GitHubFailure, openPullRequestComments, type PullRequestComments } from './comments-api.ts'
import { pullRequestOfEvent } from './pull-request-of-event.ts'

export type CommentOutcome =
  | { readonly kind: 'written'; readonly url: string }
  /** `on-failure`: nothing failed, and there is no comment that has to turn success. */
  | { readonly kind: 'not-needed' }
  /** The event is not about one pull request. */
  | { readonly kind: 'no-pull-request' }
  /** A later run has written the comment already. */
  | { readonly kind: 'newer-exists'; readonly url: string }
  /** The token may not comment here: it can only read, or not even that. `status` is absent for an empty token. */
  | { readonly kind: 'not-allowed'; readonly status?: number; readonly message: Untrusted }
  | { readonly kind: 'failed'; readonly failure: CommentFailure }

export type CommentFailure =
  | GitHubFailure
  /** Our own AbortSignal ended it. */
  | { readonly kind: 'aborted' }
  /** The runner's event file cannot be read, for one. */
  | { readonly kind: 'unexpected'; readonly reason: Untrusted }

export interface CommentOptions {
  readonly when: 'on-failure' | 'always'
  readonly success: boolean
  /** The whole comment, in Markdown, beginning with the marker. */
  readonly body: (marker: string) => string
  readonly token: string
  /** The `comment-key` input. */
  readonly key: string
  /** The matrix context as JSON. */
  readonly matrix: string
  /** The runner's environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
}

/** For everything, waiting for rate limits included. The verdict is known by then, and the job waits. */
const BUDGET_MS = 30_000
const FIRST_PAUSE_MS = 1_000

/**
 * Writes the step's comment on the pull request that the event is about, over the one of an earlier run where there is
 * one. It takes at most half a minute and never throws: whatever happens is an outcome, and none changes the verdict.
 */
export async function keepCommentUpToDate(options: CommentOptions): Promise<CommentOutcome> {
  const { clock, signal } = options
  // A step that is being cancelled has no time to load GitHub's client.
  if (signal.aborted) return { kind: 'failed', failure: { kind: 'aborted' } }
  const deadlineMs = clock.now() + BUDGET_MS
  const withinBudget = AbortSignal.any([signal, clock.timeout(BUDGET_MS)])
  try {
    const pullRequest = pullRequestOfEvent(await readEvent(options.env))
    if (pullRequest === undefined) return { kind: 'no-pull-request' }
    if (options.token.trim() === '') return { kind: 'not-allowed', message: untrusted('`github-token` is empty') }
    const identity = identityOfStep(options)
    const comments = await openPullRequestComments({
      token: options.token,
      ...apiOf(options.env),
      pullRequest,
      signal: withinBudget,
      clock,
    })

    for (let attempt = 1; ; attempt++) {
      // Each attempt reads before it writes: what was read before a pause is old by now, and a write that brought no
      // answer may have been made.
      const tried = await toFailure(() => bringUpToDate(comments, identity, options))
      if (!('failure' in tried)) return tried.outcome
      const { failure } = tried
      if (signal.aborted) return { kind: 'failed', failure: { kind: 'aborted' } }
      if (isRefusal(failure)) return { kind: 'not-allowed', status: failure.status, message: failure.message }
      const pauseMs = pauseBeforeRetryMs(failure, attempt, options.random)
      if (clock.now() + pauseMs >= deadlineMs) return { kind: 'failed', failure }
      await clock.sleep(pauseMs, withinBudget)
    }
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', failure: { kind: 'aborted' } }
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', failure: { kind: 'unexpected', reason: untrusted(reason) } }
  }
}

async function bringUpToDate(
  comments: PullRequestComments,
  identity: CommentIdentity,
  { when, success, body }: CommentOptions,
): Promise<CommentOutcome> {
  const marked = (await comments.list()).filter((comment) => hasMarker(comment.body, identity))
  // Anybody can copy a marker into a comment of their own. Who we are matters only where there is one.
  const me = marked.length > 0 ? await comments.whoAmI() : undefined
  const ours = marked.filter((comment) => comment.author === me)

  const newer = ours.find((comment) => isNewer(comment.body, identity))
  if (newer !== undefined) return { kind: 'newer-exists', url: newer.url }

  // Two jobs that found none at the same time have each made one. The oldest stays: it is the one that people have
  // seen and linked to, and every job chooses it alike.
  const [kept, ...extra] = ours.toSorted((a, b) => a.id - b.id)
  if (kept === undefined && success && when === 'on-failure') return { kind: 'not-needed' }

  const text = body(identity.marker)
  const updated = kept === undefined ? undefined : await comments.update(kept.id, text)
  const { url } = updated ?? (await comments.create(text))
  for (const { id } of extra) {
    // The comment is written; an extra one that stays is taken by the next run.
    await comments.delete(id).catch(() => {})
  }
  return { kind: 'written', url }
}

async function readEvent(env: CommentOptions['env']): Promise<unknown> {
  const path = env.GITHUB_EVENT_PATH ?? ''
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new Error(`the runner's event file "${path}" cannot be read: ${cause}`, { cause })
  }
}

function apiOf(env: CommentOptions['env']): { apiUrl: string; owner: string; repo: string } {
  const [owner, repo] = (env.GITHUB_REPOSITORY ?? '').split('/')
  if (!owner || !repo) throw new Error(`GITHUB_REPOSITORY is "${env.GITHUB_REPOSITORY ?? ''}", not "owner/repository"`)
  return { apiUrl: env.GITHUB_API_URL || 'https://api.github.com', owner, repo }
}

/**
 * The workflow is told by its file, for two files may bear one name. Jobs of a reusable workflow that one workflow
 * calls twice cannot be told apart by anything that the runner says; they need a `comment-key`.
 */
function identityOfStep({ env, key, matrix }: CommentOptions): CommentIdentity {
  const [workflowFile] = (env.GITHUB_WORKFLOW_REF ?? '').split('@refs/')
  return commentIdentity(
    { workflow: workflowFile || (env.GITHUB_WORKFLOW ?? ''), job: env.GITHUB_JOB ?? '', matrix, key },
    { runId: parseId(env.GITHUB_RUN_ID), attempt: parseId(env.GITHUB_RUN_ATTEMPT) },
  )
}

/** GitHub hides with 404 what a token may not see. A locked conversation is a 403 that no permission mends. */
function isRefusal(failure: GitHubFailure): failure is Extract<GitHubFailure, { kind: 'status' }> {
  if (failure.kind !== 'status') return false
  return failure.status === 404 || (failure.status === 403 && !/\blocked\b/i.test(String(failure.message)))
}

/** Infinite where the same request would meet the same answer. */
function pauseBeforeRetryMs(failure: GitHubFailure, attempt: number, random: () => number): number {
  switch (failure.kind) {
    case 'rate-limited':
      // The legs of a matrix are told the same time, and would all come back at once.
      return failure.retryAfterMs + FIRST_PAUSE_MS * random()
    case 'status':
      if (failure.status < 500) return Number.POSITIVE_INFINITY
      break
    case 'no-response':
      break
  }
  return FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + random() / 2)
}

async function toFailure(
  attempt: () => Promise<CommentOutcome>,
): Promise<{ outcome: CommentOutcome } | { failure: GitHubFailure }> {
  try {
    return { outcome: await attempt() }
  } catch (error) {
    if (error instanceof GitHubError) return { failure: error.failure }
    throw error
  }
}
