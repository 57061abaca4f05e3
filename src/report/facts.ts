import type { Baseline } from '../model/baseline.ts'
import type { RunHistory, StepOutcome, StepSubject } from '../model/outcome.ts'
import { BRANCH_LIMIT_CHARS } from '../model/run.ts'
import { type Fragment, fragment, link, quote } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { join, joinWithDots, NONE } from './words.ts'

/** What a step tests. A page shows it as `Branch main`, and the log as `branch “main”`. */
interface Fact {
  readonly name: Fragment
  /** The name within a sentence. */
  readonly word: Fragment
  readonly value: string | Untrusted
  readonly note?: Fragment | undefined
}

/** `branch` is the branch that was tested, if it is known. */
function factsOf({ target, parameters, commitName }: StepSubject, branch: Fact['value'] | undefined): readonly Fact[] {
  const { environment, frameworkProject } = parameters
  const isSuite = target.kind === 'test-suite'
  const [name, word] = isSuite ? [fragment`Test suite`, fragment`test suite`] : [fragment`Project`, fragment`project`]
  const facts: Fact[] = [{ name, word, value: target.id }]
  if (environment !== undefined)
    facts.push({ name: fragment`Environment`, word: fragment`environment`, value: environment })
  if (branch !== undefined) {
    const commit = commitName === undefined ? NONE : fragment` (${commitName})`
    const caveat = isSuite ? fragment` (sent as metadata only, so the service may test another branch)` : NONE
    const [name, word] = isCommit(branch) ? [fragment`Commit`, fragment`commit`] : [fragment`Branch`, fragment`branch`]
    facts.push({ name, word, value: branch, note: fragment`${commit}${caveat}` })
  }
  if (frameworkProject !== undefined)
    facts.push({ name: fragment`Framework project`, word: fragment`framework project`, value: frameworkProject })
  return facts
}

/** What was tested, and where. If the input `run-id` names the run, this shows only what the service says about
 * the run. */
export function subjectText(outcome: StepOutcome): Fragment {
  const { otherBranch } = outcome
  // `commitName` is about the commit that this step asked for, and another one was tested.
  const subject = otherBranch === undefined ? outcome.subject : { ...outcome.subject, commitName: undefined }
  const facts = factsOf(subject, testedBranch(outcome)).map(
    ({ name, value, note }) => fragment`${name} ${value}${note ?? NONE}`,
  )
  if (outcome.runId !== undefined) facts.push(fragment`Run ${linkedRunId(outcome)}`)
  const { autofix } = subject.parameters
  if (autofix !== undefined) facts.push(autofix ? fragment`Auto-fix on` : fragment`Auto-fix off`)
  if (subject.baseline !== undefined) facts.push(baselineText(subject.baseline))
  return joinWithDots(facts)
}

function baselineText({ finishedAt }: Baseline): Fragment {
  if (finishedAt === undefined) return fragment`Baseline without a time`
  // For example 2026-11-22 14:03 UTC.
  const time = finishedAt
    .toISOString()
    .replace('T', ' ')
    .replace(/:[^:]*$/, ' UTC')
  return fragment`Baseline ${time}`
}

/** For example: project “web-shop”, environment “staging”, branch “main”. */
export function whatIsTested(subject: StepSubject): Fragment {
  const { branch } = subject.parameters
  const facts = factsOf(subject, branch).map(
    ({ word, value, note }) => fragment`${word} ${quote(value, BRANCH_LIMIT_CHARS)}${note ?? NONE}`,
  )
  if (branch === undefined && subject.target.kind === 'project') facts.push(fragment`on the project's default branch`)
  return join(facts, fragment`, `)
}

export function linkedRunId({ runId, runUrl }: Pick<RunHistory, 'runId' | 'runUrl'>): Fragment {
  return runUrl === undefined ? fragment`${runId}` : link(runUrl, fragment`${runId}`)
}

/** Whether the input `branch` names a commit by its hash, as with the local service. */
export function isCommit(branch: string | Untrusted): boolean {
  return /^[\da-f]{40}$/i.test(String(branch))
}

export function testedBranch({ run, subject }: StepOutcome): string | Untrusted | undefined {
  return run?.branchName ?? subject.parameters.branch
}

/** Undefined if the branches agree. */
export function otherBranchText({ otherBranch }: StepOutcome): Fragment | undefined {
  if (otherBranch === undefined) return undefined
  const branch = quote(otherBranch.asked, BRANCH_LIMIT_CHARS)
  return fragment`The service says that it tested the branch ${quote(otherBranch.tested, BRANCH_LIMIT_CHARS)}, and this step asked for ${branch}. So nothing shows whether the tests of ${branch} pass. Check whether ${branch} is pushed. If the service has another name for ${branch}, set the input ${'branch'} to that name. Otherwise ask the operators of the service.`
}

/** Undefined if the branches agree, or if the verdict says that they do not. */
export function otherBranchWarning(outcome: StepOutcome): Fragment | undefined {
  return outcome.reason === 'other branch' ? undefined : otherBranchText(outcome)
}
