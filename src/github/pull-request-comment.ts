import { createHash } from 'node:crypto'
import type { Log } from '../action/world.ts'
import type { CommentSettings } from '../inputs/inputs.ts'
import type { CommentBodyOptions } from '../report/comment-body.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { isSecure } from '../text/web-address.ts'
import { type EventPullRequest, headLabel, pullRequestOfEvent } from './event.ts'
import {
  type Comment,
  type GitHubAccess,
  type GitHubApi,
  GitHubError,
  isTransientError,
  openGitHubApi,
  withOneRetry,
} from './github-api.ts'

export interface CommentOptions extends GitHubAccess {
  readonly settings: CommentSettings
  readonly success: boolean
  /** The whole comment, in Markdown: the marker, then `<h3>` on the next line. */
  readonly body: (parts: Omit<CommentBodyOptions, 'hasSummary'>) => string
  readonly log: Log
}

/** The time limit for the comment as a whole. It is short, because the job waits. */
const BUDGET_MS = 30_000
const ACTIONS_BOT_LOGIN = 'github-actions[bot]'

/**
 * Writes the step's comment on the event's pull request, or updates the comment of an earlier run. Takes at most half a
 * minute. Never throws, because a comment does not change the verdict. Returns the comment's address.
 */
export async function keepCommentUpToDate(options: CommentOptions): Promise<string | undefined> {
  const { env, event, token, log, clock, signal } = options
  // A step that is being cancelled has no time to load GitHub's client.
  if (signal.aborted) return undefined
  const limits = { clock, signal: AbortSignal.any([signal, clock.timeout(BUDGET_MS)]) }
  try {
    const pullRequest = pullRequestOfEvent(event)
    if (pullRequest === undefined) {
      log.info(fragment`No comment was written, because this workflow run is not about a pull request.`)
      return undefined
    }
    if (token === '') throw new Error('the input github-token is empty. Remove this input, or give a token')
    const api = await openGitHubApi({ env, token, ...limits })
    // The retry reads the comments again. They may have changed during the pause, and a write without a response may
    // have succeeded.
    const comment = await withOneRetry(() => upsert(api, pullRequest, options), limits)
    return comment && addressOf(comment, env)
  } catch (error) {
    if (!signal.aborted) log.warning(failureMessage(error))
    return undefined
  }
}

/** Returns our comment as it is now. Undefined if there is none. */
async function upsert(
  api: GitHubApi,
  pullRequest: EventPullRequest,
  { settings, success, body, env, event, log }: CommentOptions,
): Promise<Comment | undefined> {
  const identity = commentIdentity(settings, env)
  const comments = await api.listComments(pullRequest.number)
  const marked = comments.filter((comment) => orderOfWriter(comment, identity) !== undefined)
  const ours = await findOwnComments(marked, api)
  const newer = ours.find((comment) => (orderOfWriter(comment, identity) ?? 0n) > identity.order)
  if (newer !== undefined) {
    log.info(fragment`The comment was left as it is, because a later workflow run has written it.`)
    return newer
  }

  // If two jobs find no comment at the same time, each creates a comment. The oldest stays, because people may have
  // linked to it, and because every job then keeps the same comment.
  const [kept, ...extra] = ours.toSorted((a, b) => a.id - b.id)
  if (kept === undefined && success && settings.when === 'on-failure') return undefined

  // If GitHub does not name the head branch, the comment leaves it out.
  const lookUpLabel = async () => headLabel(await api.pullRequest(pullRequest.number), event.repository)
  const pullRequestBranch = pullRequest.headLabel ?? (await lookUpLabel().catch(() => undefined))
  const text = body({ marker: identity.marker, pullRequestBranch })
  const updated = kept && (await api.updateComment(kept.id, text))
  // Somebody may have deleted the comment meanwhile.
  const written = updated ?? (await api.createComment(pullRequest.number, text))
  for (const { id } of extra) {
    // If this fails, the next run deletes the extra comment.
    await api.deleteComment(id).catch(() => {})
  }
  return written
}

/** The comments of our account, because anybody can copy a marker. */
async function findOwnComments(marked: readonly Comment[], api: GitHubApi): Promise<readonly Comment[]> {
  if (marked.length === 0) return []
  const login = await api.whoAmI()
  // If the server does not name the account, the token is most likely the workflow's own.
  const ours = marked.filter(({ author }) => author === (login ?? ACTIONS_BOT_LOGIN))
  if (login !== undefined || ours.length > 0) return ours
  throw new Error(
    `a comment by ${marked[0]?.author ?? 'a deleted account'} may be from an earlier run of this step. The step cannot tell, because GitHub does not say which account github-token belongs to. Delete that comment, or set comment-key`,
  )
}

/** Only an address of GitHub's server becomes an output, because people put outputs into scripts and links. */
function addressOf({ url }: Comment, env: NodeJS.ProcessEnv): string | undefined {
  const address = URL.parse(url)
  const server = URL.parse(env.GITHUB_SERVER_URL || 'https://github.com')
  return address !== null && address.origin === server?.origin && isSecure(address) ? address.href : undefined
}

interface CommentIdentity {
  /** What the comment's body starts with. An HTML comment, so that nobody sees it. */
  readonly marker: string
  /** The part of the marker that does not change from run to run. */
  readonly markerPrefix: string
  /** Grows from run to run, and from attempt to attempt. */
  readonly order: bigint
}

/**
 * Steps with the same workflow file, job, matrix and key share a comment. The marker contains only a digest of these
 * values, because a matrix may contain private names or `-->`. If a workflow calls a reusable workflow twice, the user
 * must set `comment-key`, because the runner gives both jobs the same values.
 */
export function commentIdentity(
  { key, matrix }: Omit<CommentSettings, 'when'>,
  env: NodeJS.ProcessEnv,
): CommentIdentity {
  // Two workflow files may have the same name.
  const [workflowFile] = (env.GITHUB_WORKFLOW_REF ?? '').split('@refs/')
  const parts = [workflowFile || (env.GITHUB_WORKFLOW ?? ''), env.GITHUB_JOB ?? '', matrix, key]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const markerPrefix = `<!-- test-run-action ${digest} `
  // Not GITHUB_RUN_NUMBER, which starts again if the workflow's file is renamed.
  const { GITHUB_RUN_ID: workflowRunId = '0', GITHUB_RUN_ATTEMPT: attempt = '0' } = env
  return {
    markerPrefix,
    order: orderOf(workflowRunId, attempt),
    marker: `${markerPrefix}run ${workflowRunId} attempt ${attempt} -->`,
  }
}

function orderOf(workflowRunId: string, attempt: string): bigint {
  return BigInt(workflowRunId) * 1_000_000n + BigInt(attempt)
}

/**
 * The order of the workflow run that wrote the comment. Undefined unless the comment begins with this step's marker and
 * a headline.
 */
function orderOfWriter({ body }: Comment, { markerPrefix }: CommentIdentity): bigint | undefined {
  if (!body.startsWith(markerPrefix)) return undefined
  const found = /^run (\d{1,20}) attempt (\d{1,6}) -->\r?\n<h3>/.exec(body.slice(markerPrefix.length))
  return found === null ? undefined : orderOf(found[1] ?? '', found[2] ?? '')
}

export function failureMessage(error: unknown): Fragment {
  const reason = messageOf(error)
  const failure = error instanceof GitHubError ? error.failure : undefined
  // GitHub sends 404 if the token may not see something. A locked conversation gives 403, but no permission changes that.
  if (failure === 404 || (failure === 403 && !/\blocked\b/i.test(reason))) {
    return fragment`The token is not allowed to write the pull request comment: ${reason}. Add \`permissions: { pull-requests: write }\` to the job, and keep its other permissions. Pull requests by Dependabot need this permission too. On a pull request from a fork, GitHub allows the workflow only to read. Set \`comment: never\` there.`
  }
  return fragment`The pull request comment was not written: ${reason}.${adviceFor(error)}`
}

function adviceFor(error: unknown): Fragment {
  if (isTransientError(error)) return fragment` The next workflow run writes the comment.`
  const failure = error instanceof GitHubError ? error.failure : undefined
  if (failure === 'rate-limit')
    return fragment` The next workflow run writes the comment. If many jobs comment, let one job do it.`
  return failure === 401 ? fragment` Check github-token: it is invalid or has expired.` : fragment``
}
