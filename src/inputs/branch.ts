import { headOfEvent, type WorkflowEvent } from '../github/event.ts'
import type { UntestedHead } from '../outcome/step-outcome.ts'
import { untestedHeadText } from '../report/facts.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import type { InputReader } from './input-reader.ts'
import { SKIPPED_PASSES } from './secrets.ts'

/** The default of the input `branch`: the branch that the event is about. Git allows no branch of this name. */
export const BRANCH_OF_EVENT = '@{event}'

export type BranchInput = ({ readonly kind: 'known' } & KnownBranch) | UnknownBranch

export interface KnownBranch {
  /** If it is absent, main sends no branch, and the service tests the project's default branch. */
  readonly branch?: string | undefined
  readonly info?: LogLine | undefined
  readonly warning?: LogLine | undefined
  /** The head that the event is about, if the default branch is tested instead because the input is empty. */
  readonly untested?: UntestedHead | undefined
}

export type UnknownBranch =
  | { readonly kind: 'pull-request'; readonly number: number }
  | { readonly kind: 'deployment'; readonly ref: string; readonly sha: string }

const LONGEST_BRANCH = 255
export const ADVICE = logLine`Set the input "branch" to the branch that you want to test.`

export function isBranchName(name: string): boolean {
  const characters = [...name].length
  return characters > 0 && characters <= LONGEST_BRANCH && !/\p{Cc}/u.test(name)
}

/** Reads the input `branch`. If it has its default, takes the event's branch from the payload if possible. */
export function readBranch(inputs: InputReader, event: WorkflowEvent): BranchInput {
  const given = givenBranch(inputs)
  if (given === '') return emptyBranch(inputs, event)
  const found = given === BRANCH_OF_EVENT ? branchOfEvent(event) : known(given)
  if (found === undefined) {
    inputs.problem(
      logLine`Input branch: the event ${event.name} names no branch of this repository. One possible cause is a commit of a fork. So the step does not know which branch to test. ${ADVICE}`,
    )
    return { kind: 'known' }
  }
  if (found.kind === 'known' && found.branch !== undefined) checkBranch(found.branch, inputs, event)
  return found
}

function known(branch: string): BranchInput {
  return { kind: 'known', branch }
}

function checkBranch(branch: string, inputs: InputReader, event: WorkflowEvent): void {
  const characters = [...branch].length
  if (characters > LONGEST_BRANCH) {
    inputs.problem(logLine`Input branch: "${branch}" has ${characters} characters. The service takes 1 to 255.`)
  }
  const head = headOfEvent(event)
  if (head?.isFork && head.branch === branch.replace(/^refs\/heads\//, '')) inputs.problem(forkMessage(branch))
}

/** If the runner does not know the input's default, it sets no variable. */
function givenBranch(inputs: InputReader): string {
  return inputs.isPresent('branch') ? inputs.text('branch') : BRANCH_OF_EVENT
}

/** For the debug log: the rule by which the branch was chosen. */
export function ruleOfBranch(inputs: InputReader, event: WorkflowEvent, input: BranchInput): string {
  const given = givenBranch(inputs)
  if (inputs.text('run-id') !== '') return 'the input run-id names a run'
  if (given === '') return 'the input branch is empty'
  if (given !== BRANCH_OF_EVENT) return 'the input branch names it'
  if (input.kind !== 'known') return "it was looked up through GitHub's API"
  if (input.branch === undefined) return 'the event is about no branch'
  if (['workflow_run', 'check_suite', 'check_run'].includes(event.name)) return "it is the event's head_branch"
  return headOfEvent(event) === undefined ? 'the workflow runs on it' : 'it is the head branch of the pull request'
}

/** Warns if the default branch is tested instead of the event's branch, because an unset variable is empty too. */
function emptyBranch(inputs: InputReader, event: WorkflowEvent): BranchInput {
  const untested = notDefaultBranch(event)
  if (untested !== undefined) {
    inputs.warnings.push(
      logLine`Input branch is empty, so the project's default branch is tested. This workflow run is about ${untestedHeadText(untested)}, which is not tested. If the input comes from a variable, check that the variable is set. Otherwise remove the input, or set it to the branch that you want to test.`,
    )
  }
  return { kind: 'known', untested }
}

function notDefaultBranch(event: WorkflowEvent): UntestedHead | undefined {
  const found = branchOfEvent(event)
  if (found === undefined) return { kind: 'commit-of-fork' }
  if (found.kind === 'pull-request') return found
  const name = found.kind === 'deployment' ? found.ref.replace(/^refs\/heads\//, '') : found.branch
  const isDefault = name === event.payload.repository?.default_branch && !headOfEvent(event)?.isFork
  // A schedule runs only on the default branch, but its payload may not name that branch.
  return isDefault || !name || event.name === 'schedule' ? undefined : { kind: 'branch', name }
}

/** Undefined if the event should name a branch of this repository, but names none. */
function branchOfEvent(event: WorkflowEvent): BranchInput | undefined {
  const { name, payload, ref } = event
  const head = headOfEvent(event)
  if (head !== undefined) return head.branch === undefined ? undefined : known(head.branch)
  // A pull request is also an issue, so the events `issue_comment` and `issues` may be about a pull request.
  if (payload.issue?.pull_request) {
    return { kind: 'pull-request', number: payload.issue.number ?? 0 }
  }
  if (name === 'deployment' || name === 'deployment_status') {
    return { kind: 'deployment', ref: payload.deployment?.ref ?? '', sha: payload.deployment?.sha ?? '' }
  }
  if (ref.type !== 'branch') {
    return { kind: 'known', ...noBranch(logLine`"${ref.name}", which is not a branch`) }
  }
  if (['push', 'merge_group', 'workflow_dispatch', 'schedule'].includes(name)) return known(ref.name)
  return {
    kind: 'known',
    branch: ref.name,
    info: logLine`Testing the branch "${ref.name}", because the workflow runs on it. The event ${name} names no other branch. To test another branch, set the input "branch".`,
  }
}

export function noBranch(subject: LogLine): KnownBranch {
  const info = logLine`This workflow run is about ${subject}, so the project's default branch is tested. To test another branch, set the input "branch".`
  return { info }
}

export function forkMessage(branch: string): LogLine {
  return logLine`Input branch: this workflow run is about the branch "${branch}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. ${SKIPPED_PASSES}`
}
