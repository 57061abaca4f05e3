import { type LogLine, logLine } from '../text/safe-text.ts'
import { headOfEvent, type WorkflowEvent } from './event.ts'
import type { InputReader } from './input-reader.ts'

/** The default of the input `branch`: the branch that the event is about. Git allows no branch of this name. */
export const BRANCH_OF_EVENT = '@{event}'

/** What is known of the branch to test once the inputs are read. */
export type BranchInput = ({ readonly kind: 'known' } & KnownBranch) | UnknownBranch

export interface KnownBranch {
  /** Absent: none is sent, and the service tests the project's default branch. */
  readonly branch?: string | undefined
  /** For the log. */
  readonly note?: LogLine | undefined
}

/** What GitHub's API has to be asked about. */
export type UnknownBranch =
  | { readonly kind: 'pull-request'; readonly number: number }
  | { readonly kind: 'deployment'; readonly ref: string; readonly sha: string }

const LONGEST_BRANCH = 255
export const ADVICE = logLine`Give the input branch to name the branch yourself.`

/** Reads the input `branch`, and finds out the branch of the event as far as its payload tells. */
export function readBranch(inputs: InputReader, event: WorkflowEvent): BranchInput {
  // A runner that does not know the default sets no variable at all.
  const given = inputs.isPresent('branch') ? inputs.text('branch') : BRANCH_OF_EVENT
  const found = given === BRANCH_OF_EVENT ? branchOfEvent(inputs, event) : given
  if (typeof found !== 'string') return found
  if (found === '') return { kind: 'known' }
  const characters = [...found].length
  if (characters > LONGEST_BRANCH) {
    inputs.problem(logLine`Input branch: "${found}" has ${characters} characters. The service takes 1 to 255.`)
  }
  const head = headOfEvent(event)
  if (head?.isFork && head.branch === found.replace(/^refs\/heads\//, '')) inputs.problem(forkMessage(found))
  return { kind: 'known', branch: found }
}

/** The branch that the event is about; whatever else is to be said of it, if its name alone does not do. */
function branchOfEvent(inputs: InputReader, event: WorkflowEvent): string | BranchInput {
  const { name, payload, ref } = event
  const head = headOfEvent(event)
  if (head !== undefined) {
    if (head.branch !== undefined) return head.branch
    inputs.problem(
      logLine`Input branch: the event ${name} names no branch of this repository, as for a commit of a fork, so it is not known what to test. ${ADVICE}`,
    )
    return { kind: 'known' }
  }
  // A pull request is an issue too: `issue_comment`, and `issues` for what the two have in common.
  if (payload.issue?.pull_request) {
    return { kind: 'pull-request', number: payload.issue.number ?? 0 }
  }
  if (name === 'deployment' || name === 'deployment_status') {
    return { kind: 'deployment', ref: payload.deployment?.ref ?? '', sha: payload.deployment?.sha ?? '' }
  }
  if (ref.type !== 'branch') {
    return { kind: 'known', ...noBranch(logLine`"${ref.name}", which is not a branch`) }
  }
  if (['push', 'merge_group', 'workflow_dispatch', 'schedule'].includes(name)) return ref.name
  return {
    kind: 'known',
    branch: ref.name,
    note: logLine`Testing the branch "${ref.name}", because the workflow runs on it; the event ${name} is about no other. The input branch names another one.`,
  }
}

export function noBranch(subject: LogLine): KnownBranch {
  const note = logLine`This workflow run is about ${subject}, so the project's default branch is tested. The input branch names another one.`
  return { note }
}

export function forkMessage(branch: string): LogLine {
  return logLine`Input branch: "${branch}" is a branch of a fork. The service would look for a branch of that name in its own repository and test the wrong code. Skip this step for forks, or give another branch.`
}
