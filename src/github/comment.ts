import type { Clock } from '../clock.ts'
import { fieldsOf } from '../text/json.ts'
import { type Fragment, fragment, type Html, hiddenMarker, html, type Log, render } from '../text/safe-text.ts'
import { VERSION } from '../version.ts'
import { pullRequestOfEvent, type WorkflowEvent } from './event.ts'
import type { When } from './outputs.ts'

export interface CommentSettings {
  readonly when: When
  readonly token: string
  /** What the comment belongs to beside workflow and job. Steps that differ in it have comments of their own. */
  readonly belongsTo: readonly (string | undefined)[]
}

export interface CommentOptions {
  readonly env: NodeJS.ProcessEnv
  readonly event: WorkflowEvent
  readonly settings: CommentSettings
  readonly success: boolean
  /** Called only if a comment may be written. If it returns undefined, none is written. */
  readonly build: () => Html | undefined
  readonly log: Log
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Short, because the job waits. */
const LIMIT_MS = 30_000

/** Never throws, because a comment does not change the verdict. Returns the comment's address. */
export async function keepCommentUpToDate(options: CommentOptions): Promise<string | undefined> {
  const { env, event, settings, success, log, clock, signal } = options
  if (settings.when === 'never') return undefined
  if (event.problem !== undefined) {
    // With `on-failure`, a step that succeeds only updates the comment of an earlier failure. Most such steps have no comment to update, so
    // a warning would be wrong.
    if (success && settings.when === 'on-failure')
      log.info(fragment`If a comment of an earlier run exists, it stays as it is, because ${event.problem}.`)
    else log.warning(notWritten(event.problem))
    return undefined
  }
  const number = pullRequestOfEvent(event)
  if (number === undefined)
    return void log.info(fragment`No comment was written, because this workflow run is not about a pull request.`)
  const body = options.build()
  if (body === undefined) return undefined
  const late = new AbortController()
  void clock.sleep(LIMIT_MS, signal).then(() => late.abort())
  const limited = AbortSignal.any([signal, late.signal])
  try {
    const id = await upsert(await openGitHub(env, settings.token, limited), number, body, options)
    const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env
    return id === undefined ? undefined : `${server}/${repository}/pull/${number}#issuecomment-${id}`
  } catch (error) {
    if (signal.aborted) return undefined
    log.warning(failureMessage(late.signal.aborted ? new Error(`no response within ${LIMIT_MS / 1_000} s`) : error))
    return undefined
  }
}

type GitHub = Awaited<ReturnType<typeof openGitHub>>

// Octokit's own log lines, for example about a deprecation, may show text of the server that is not made safe.
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Loads `@actions/github` only now, because most steps do not need it. Its Octokit does not repeat requests. */
async function openGitHub(env: NodeJS.ProcessEnv, token: string, signal: AbortSignal) {
  // Certificates are always checked. An earlier step may have set this variable, and Node reads it for each connection.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  const { getOctokit } = await import('@actions/github')
  const baseUrl = (env.GITHUB_API_URL || 'https://api.github.com').replace(/\/$/, '')
  const octokit = getOctokit(token, { baseUrl, userAgent: `test-run-action/${VERSION}` })
  // A hook, because `paginate` hands no options on to its requests.
  octokit.hook.before('request', ({ request }) => void Object.assign(request, { signal, log: SILENT }))
  return octokit
}

/** Returns the id of our comment. Undefined if there is none. */
async function upsert(
  octokit: GitHub,
  number: number,
  body: Html,
  { settings, success, env, log }: CommentOptions,
): Promise<number | undefined> {
  const { marker, markerPrefix, order } = commentIdentity(settings, env)
  const [owner = '', repo = ''] = (env.GITHUB_REPOSITORY ?? '').split('/')
  const { issues } = octokit.rest
  const comments = await octokit.paginate(issues.listComments, { owner, repo, issue_number: number, per_page: 100 })
  const marked = comments.filter((comment) => comment.body?.startsWith(markerPrefix))
  // Anybody can copy a marker, so the comment's author must be the account of the token too. If no comment is marked, main does not request the
  // name of this account.
  const login = marked.length > 0 ? await ownLogin(octokit) : ''
  // If two jobs have found no comment at the same time, each has created one. Then all later runs update the first.
  const ours = marked.find(({ user }) => user?.login === login)
  if (ours === undefined && success && settings.when === 'on-failure') return undefined
  if (ours !== undefined && orderOf(ours.body?.slice(markerPrefix.length) ?? '') > order) {
    log.info(fragment`The comment was left as it is, because a later workflow run has written it.`)
    return ours.id
  }
  const text = { owner, repo, body: render(html`${hiddenMarker(marker)}\n${body}`) }
  const { data } =
    ours === undefined
      ? await issues.createComment({ ...text, issue_number: number })
      : await issues.updateComment({ ...text, comment_id: ours.id })
  if (typeof data.id !== 'number') throw new Error("the response did not come from GitHub's API, or it is incomplete")
  return data.id
}

/** The account of the token. `GET /user` refuses the workflow's own token. */
async function ownLogin(octokit: GitHub): Promise<string> {
  const { viewer } = await octokit.graphql<{ viewer: { login: string } }>('{ viewer { login } }')
  return viewer.login
}

/**
 * The marker contains only a digest of what the comment belongs to, because a matrix may contain private names or `-->`. The
 * prefix of the marker does not change from run to run. The order grows from run to run, and from attempt to attempt.
 */
export function commentIdentity({ belongsTo }: Pick<CommentSettings, 'belongsTo'>, env: NodeJS.ProcessEnv) {
  // Not GITHUB_WORKFLOW, because two workflow files may have the same name.
  const [workflowFile] = (env.GITHUB_WORKFLOW_REF ?? '').split('@refs/')
  const parts = [workflowFile, env.GITHUB_JOB, ...belongsTo]
  const digest = process.getBuiltinModule('node:crypto').hash('sha256', JSON.stringify(parts))
  const markerPrefix = `<!-- test-run-action ${digest} `
  // Not GITHUB_RUN_NUMBER, which starts again if the workflow's file is renamed.
  const writer = `run ${env.GITHUB_RUN_ID || 0} attempt ${env.GITHUB_RUN_ATTEMPT || 0} -->`
  return { markerPrefix, order: orderOf(writer), marker: `${markerPrefix}${writer}` }
}

/** The order of the workflow run that a marker names. Zero if the rest of the marker has another form. */
function orderOf(restOfMarker: string): bigint {
  const [, workflowRunId = '0', attempt = '0'] = /^run (\d{1,20}) attempt (\d{1,6}) -->/.exec(restOfMarker) ?? []
  return BigInt(workflowRunId) * 1_000_000n + BigInt(attempt)
}

function notWritten(reason: Fragment): Fragment {
  return fragment`The pull request comment was not written: ${reason}.`
}

function failureMessage(error: unknown): Fragment {
  const { message, response } = error as Error & { readonly response?: unknown }
  const { status, data } = fieldsOf(response)
  // Without a response, the error has no field `response`. An error of GraphQL has one, but without a status.
  if (typeof status !== 'number') {
    return notWritten(fragment`GitHub's API gave no usable response (${message}). The next workflow run tries again`)
  }
  const { message: said } = fieldsOf(data)
  const reason = fragment`GitHub responded with status ${status}${typeof said === 'string' ? fragment` (${said})` : ''}`
  // GitHub sends 404 if the token may not see something. No permission helps against a locked conversation or a rate
  // limit, but GitHub sends 403 for these too.
  if (status === 404 || (status === 403 && !/\b(locked|rate limit)\b/i.test(message))) {
    return fragment`The token is not allowed to write the pull request comment: ${reason}. Add \`permissions: { pull-requests: write }\` to the job, and keep its other permissions. Pull requests by Dependabot need this permission too. On a pull request from a fork, GitHub allows the workflow only to read. Set \`comment: never\` there.`
  }
  if (status === 401) return notWritten(fragment`${reason}. Check github-token: it is invalid or has expired`)
  return notWritten(reason)
}
