import { ADVICE, forkMessage, isBranchName, type KnownBranch, noBranch, type UnknownBranch } from '../inputs/branch.ts'
import { InvalidInputsError } from '../inputs/input-reader.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import { headOf } from './event.ts'
import { type GitHubAccess, type GitHubApi, GitHubError, openGitHubApi, withOneRetry } from './github-api.ts'

/** GitHub allows no branch whose name looks like this. */
const COMMIT_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i
/** The limit is short, because main starts nothing before it knows the branch. */
const LOOK_UP_LIMIT_MS = 10_000

/**
 * Looks up the branch that the event does not name, through GitHub's API. Throws InvalidInputsError if it finds no
 * branch or several. If the signal aborts, returns no branch, and the action then starts nothing.
 */
export async function lookUpBranch(input: UnknownBranch, options: GitHubAccess): Promise<KnownBranch> {
  if (input.kind === 'deployment') {
    const what = logLine`the branch of the deployment of "${input.ref}"`
    return lookUp(what, 'contents: read', options, (api, fail) => branchOfDeployment(input.ref, input.sha, api, fail))
  }
  const what = logLine`the head of pull request ${String(input.number)}`
  return lookUp(what, 'pull-requests: read', options, async (api) => {
    const { branch = '', isFork } = headOf(await api.pullRequest(input.number), options.event.repository)
    if (isFork) throw new InvalidInputsError([forkMessage(branch)])
    return { branch, info: logLine`Testing the branch "${branch}", ${what}.` }
  })
}

/**
 * A deployment's ref is a branch, a tag or a commit. If it has no prefix such as `refs/tags/`, it does not say which.
 */
async function branchOfDeployment(ref: string, sha: string, api: GitHubApi, fail: Fail): Promise<KnownBranch> {
  const isHash = COMMIT_HASH.test(ref)
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  if (!isHash && name !== '') {
    const head = ref.startsWith('refs/tags/') ? undefined : await api.refHash(`heads/${name}`)
    const tag = ref.startsWith('refs/heads/') ? undefined : await api.refHash(`tags/${name}`)
    if (head !== undefined && tag !== undefined) throw fail(logLine`"${name}" is both a branch and a tag`)
    if (head !== undefined) {
      const info = logLine`Testing the branch "${name}" of the deployment.`
      const warning = logLine`The deployed commit is ${sha}, but the head of the branch "${name}" is now ${head}. The service tests the branch as it is now.`
      return { branch: name, info, warning: head === sha || sha === '' ? undefined : warning }
    }
    if (tag !== undefined) return noBranch(logLine`a deployment of the tag "${name}"`)
  }
  // The ref may also be the beginning of a hash.
  const isCommit = isHash || (ref.length >= 7 && sha.startsWith(ref))
  const branches = isCommit ? await api.branchesWithHead(isHash ? ref : sha) : []
  const [branch, ...others] = branches
  if (branch === undefined) throw fail(logLine`no branch was found`)
  if (others.length > 0) throw fail(logLine`the commit is the head of several branches (${branches.join(', ')})`)
  return { branch, info: logLine`Testing the branch "${branch}", whose head is the commit that was deployed.` }
}

type Fail = (reason: LogLine) => InvalidInputsError

async function lookUp(
  what: LogLine,
  permission: 'pull-requests: read' | 'contents: read',
  { env, token, clock, signal }: GitHubAccess,
  ask: (api: GitHubApi, fail: Fail) => Promise<KnownBranch>,
): Promise<KnownBranch> {
  const fail: Fail = (reason) =>
    new InvalidInputsError([
      logLine`Input branch: the event does not name the branch to test. The step could not find ${what} through GitHub's API: ${reason}. The look-up needs the permission ${permission}. ${ADVICE}`,
    ])
  if (signal.aborted) return {}
  if (token === '') throw fail(logLine`the input github-token is empty`)
  const limits = { clock, signal: AbortSignal.any([signal, clock.timeout(LOOK_UP_LIMIT_MS)]) }
  try {
    const api = await openGitHubApi({ env, token, ...limits })
    const found = await withOneRetry(() => ask(api, fail), limits)
    if (found.branch === undefined || isBranchName(found.branch)) return found
    throw fail(logLine`"${found.branch}" cannot be the name of a branch`)
  } catch (error) {
    if (signal.aborted) return {}
    if (error instanceof InvalidInputsError) throw error
    throw fail(error instanceof GitHubError ? error.clause : logLine`${String(error)}`)
  }
}
