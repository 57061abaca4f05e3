import { BRANCH_LIMIT_CHARS } from '../outcome/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { type BranchToLookUp, type FoundBranch, isFork } from './event.ts'
import { type GitHubAccess, type GitHubApi, GitHubError, openGitHubApi, withOneRetry } from './github-api.ts'

/** GitHub allows no branch whose name looks like this. */
const COMMIT_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i
/** Git takes the beginning of a hash only from this length on. */
const SHORTEST_HASH_CHARS = 7
/** The limit is short, because main starts nothing before it knows the branch. */
const LOOK_UP_LIMIT_MS = 10_000

/** Asks GitHub's API for the branch that the event does not name. Undefined if the signal aborts. */
export async function lookUpBranch(
  wanted: BranchToLookUp,
  { env, event, token, clock, signal }: GitHubAccess,
): Promise<FoundBranch | undefined> {
  const [what, permission] =
    wanted.kind === 'pull-request'
      ? [fragment`the head of pull request ${String(wanted.number)}`, 'pull-requests: read']
      : [fragment`the branch of the deployment of "${wanted.ref}"`, 'contents: read']
  const unknown = (reason: Fragment): FoundBranch => ({
    kind: 'unknown',
    reason: fragment`the event does not name the branch to test. The step could not find ${what} through GitHub's API: ${reason}. The look-up needs the permission ${permission}.`,
  })
  if (signal.aborted) return undefined
  if (token === '') return unknown(fragment`the input github-token is empty`)
  const limits = { clock, signal: AbortSignal.any([signal, clock.timeout(LOOK_UP_LIMIT_MS)]) }
  try {
    const api = await openGitHubApi({ env, token, ...limits })
    const found = await withOneRetry(async () => {
      if (wanted.kind === 'deployment') return branchOfDeployment(wanted, api, unknown)
      const pullRequest = await api.pullRequest(wanted.number)
      const name = pullRequest.head?.ref ?? ''
      if (isFork(pullRequest, event.repository)) return { kind: 'branch-of-fork', name } as const
      return branch(name, fragment`Testing the branch "${name}", ${what}.`)
    }, limits)
    if (found.kind !== 'branch' || isBranchName(found.name)) return found
    return unknown(fragment`"${found.name}" cannot be the name of a branch`)
  } catch (error) {
    if (signal.aborted) return undefined
    return unknown(error instanceof GitHubError ? error.clause : fragment`${messageOf(error)}`)
  }
}

type Deployment = Extract<BranchToLookUp, { kind: 'deployment' }>
type Unknown = (reason: Fragment) => FoundBranch

/** The ref is a branch, a tag, or a commit's hash. A short hash looks like a name. */
async function branchOfDeployment({ ref, sha }: Deployment, api: GitHubApi, unknown: Unknown): Promise<FoundBranch> {
  if (COMMIT_HASH.test(ref)) return branchWithHead(ref, api, unknown)
  const named = await branchNamed({ ref, sha }, api, unknown)
  if (named !== undefined) return named
  const isShortHash = ref.length >= SHORTEST_HASH_CHARS && sha.startsWith(ref)
  return isShortHash ? branchWithHead(sha, api, unknown) : unknown(NOT_FOUND)
}

/** Undefined if there is neither a branch nor a tag of this name. */
async function branchNamed(
  { ref, sha }: Omit<Deployment, 'kind'>,
  api: GitHubApi,
  unknown: Unknown,
): Promise<FoundBranch | undefined> {
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const head = ref.startsWith('refs/tags/') ? undefined : await api.refHash(`heads/${name}`)
  const tag = ref.startsWith('refs/heads/') ? undefined : await api.refHash(`tags/${name}`)
  if (head === undefined) {
    return tag === undefined ? undefined : { kind: 'no-branch', subject: fragment`a deployment of the tag "${name}"` }
  }
  if (tag !== undefined) return unknown(fragment`"${name}" is both a branch and a tag`)
  const warning = fragment`The deployed commit is ${sha}, but the head of the branch "${name}" is now ${head}. The service tests the branch as it is now.`
  const isCurrent = head === sha || sha === ''
  return branch(name, fragment`Testing the branch "${name}" of the deployment.`, isCurrent ? undefined : warning)
}

async function branchWithHead(hash: string, api: GitHubApi, unknown: Unknown): Promise<FoundBranch> {
  const names = await api.branchesWithHead(hash)
  const [name, ...others] = names
  if (name === undefined) return unknown(NOT_FOUND)
  if (others.length > 0) return unknown(fragment`the commit is the head of several branches (${names.join(', ')})`)
  return branch(name, fragment`Testing the branch "${name}", whose head is the commit that was deployed.`)
}

const NOT_FOUND = fragment`no branch was found`

function branch(name: string, info: Fragment, warning?: Fragment): FoundBranch {
  return { kind: 'branch', name, because: "it was looked up through GitHub's API", info, warning }
}

function isBranchName(name: string): boolean {
  const characters = [...name].length
  return characters > 0 && characters <= BRANCH_LIMIT_CHARS && !/\p{Cc}/u.test(name)
}
