import { BRANCH_LIMIT_CHARS } from '../outcome/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { type BranchChoice, type BranchToLookUp, type FoundBranch, isFork, noBranch } from './event.ts'
import { type GitHubAccess, type GitHubApi, openGitHubApi, withOneRetry } from './github-api.ts'

/** GitHub allows no branch whose name looks like this. */
const COMMIT_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i
/** Git takes the beginning of a hash only from this length on. */
const SHORTEST_HASH_CHARS = 7
/** The limit is short, because main starts nothing before it knows the branch. */
const LOOK_UP_LIMIT_MS = 10_000
/** After a cancel of the step. The action then starts nothing. */
const CANCELLED: BranchChoice = { kind: 'branch', name: undefined, because: 'the step was cancelled' }

/** Asks GitHub's API for the branch that the event does not name. */
export async function lookUpBranch(
  wanted: BranchToLookUp,
  { env, event, token, clock, signal }: GitHubAccess,
): Promise<FoundBranch> {
  if (signal.aborted) return CANCELLED
  const [what, permission] =
    wanted.kind === 'pull-request'
      ? [fragment`the head of pull request ${String(wanted.number)}`, 'pull-requests: read']
      : [fragment`the branch of the deployment of "${wanted.ref}"`, 'contents: read']
  const limits = { clock, signal: AbortSignal.any([signal, clock.timeout(LOOK_UP_LIMIT_MS)]) }
  try {
    if (token === '') throw new Error('the input github-token is empty')
    const api = await openGitHubApi({ env, token, ...limits })
    return await withOneRetry(async () => {
      if (wanted.kind === 'deployment') return branchOfDeployment(wanted, api)
      const pullRequest = await api.pullRequest(wanted.number)
      const name = pullRequest.head?.ref ?? ''
      if (isFork(pullRequest, event.repository)) return { kind: 'branch-of-fork', name } as const
      return branch(name, fragment`Testing the branch "${name}", ${what}.`)
    }, limits)
  } catch (error) {
    if (signal.aborted) return CANCELLED
    const reason = fragment`the event does not name the branch to test. The step could not find ${what} through GitHub's API: ${messageOf(error)}. The look-up needs the permission ${permission}.`
    return { kind: 'unknown', reason }
  }
}

type Deployment = Pick<Extract<BranchToLookUp, { kind: 'deployment' }>, 'ref' | 'sha'>

/** The ref is a branch, a tag, or a commit's hash. A short hash looks like a name. */
async function branchOfDeployment({ ref, sha }: Deployment, api: GitHubApi): Promise<BranchChoice> {
  if (COMMIT_HASH.test(ref)) return branchWithHead(ref, api)
  const named = await branchNamed({ ref, sha }, api)
  if (named !== undefined) return named
  const isShortHash = ref.length >= SHORTEST_HASH_CHARS && sha.startsWith(ref)
  if (isShortHash) return branchWithHead(sha, api)
  throw new Error(NOT_FOUND)
}

/** Undefined if there is neither a branch nor a tag of this name. */
async function branchNamed({ ref, sha }: Deployment, api: GitHubApi): Promise<BranchChoice | undefined> {
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const head = ref.startsWith('refs/tags/') ? undefined : await api.refHash(`heads/${name}`)
  const tag = ref.startsWith('refs/heads/') ? undefined : await api.refHash(`tags/${name}`)
  if (head === undefined) return tag === undefined ? undefined : noBranch(fragment`a deployment of the tag "${name}"`)
  if (tag !== undefined) throw new Error(`"${name}" is both a branch and a tag`)
  const warning = fragment`The deployed commit is ${sha}, but the head of the branch "${name}" is now ${head}. The service tests the branch as it is now.`
  const isCurrent = head === sha || sha === ''
  return branch(name, fragment`Testing the branch "${name}" of the deployment.`, isCurrent ? undefined : warning)
}

async function branchWithHead(hash: string, api: GitHubApi): Promise<BranchChoice> {
  const names = await api.branchesWithHead(hash)
  const [name, ...others] = names
  if (name === undefined) throw new Error(NOT_FOUND)
  if (others.length > 0) throw new Error(`the commit is the head of several branches (${names.join(', ')})`)
  return branch(name, fragment`Testing the branch "${name}", whose head is the commit that was deployed.`)
}

const NOT_FOUND = 'no branch was found'
const BRANCH_NAME = new RegExp(`^\\P{Cc}{1,${BRANCH_LIMIT_CHARS}}$`, 'u')

function branch(name: string, info: Fragment, warning?: Fragment): BranchChoice {
  if (!BRANCH_NAME.test(name)) throw new Error(`"${name}" cannot be the name of a branch`)
  return { kind: 'branch', name, because: "it was looked up through GitHub's API", info, warning }
}
