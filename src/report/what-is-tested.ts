import type { Baseline } from '../model/baseline.ts'
import type { EndedStep, StepOutcome, StepSubject } from '../model/outcome.ts'
import { isCommit } from '../model/run.ts'
import { type Fragment, fragment, link, quote } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { join, NONE } from './phrases.ts'

/** What a page says besides its headline. If the input `run-id` names the run, this is only what the service says about the run. */
export function factsOf(outcome: StepOutcome): readonly Fragment[] {
  const { target, parameters, baseline } = outcome.subject
  const { environment } = parameters
  const branch = testedBranch(outcome)
  const facts: Fragment[] = []
  if (environment !== undefined) facts.push(fragment`Environment ${environment}`)
  if (branch !== undefined) facts.push(isCommit(branch) ? fragment`Commit ${branch}` : fragment`Branch ${branch}`)
  if (target.kind === 'test-suite' && branch !== undefined)
    facts.push(fragment`The branch is metadata only, so the service may test another branch`)
  if (outcome.runId !== undefined) facts.push(fragment`Run ${linkedRunId(outcome)}`)
  const { autofix } = parameters
  if (autofix !== undefined) facts.push(autofix ? fragment`Auto-fix on` : fragment`Auto-fix off`)
  if (baseline !== undefined) facts.push(baselineText(baseline))
  return facts
}

function baselineText([{ finishedAt }, ...earlier]: Baseline): Fragment {
  const runs = earlier.length === 0 ? NONE : fragment` (${earlier.length + 1} runs)`
  if (finishedAt === undefined) return fragment`Baseline without a time${runs}`
  // For example 2026-11-22 14:03 UTC.
  const time = finishedAt
    .toISOString()
    .replace('T', ' ')
    .replace(/:[^:]*$/, ' UTC')
  return fragment`Baseline ${time}${runs}`
}

/** For example: project “web-shop”, environment “staging”, branch “main”. */
export function whatIsTested(subject: StepSubject): Fragment {
  const { target, parameters } = subject
  const { branch, environment, frameworkProject } = parameters
  const kind = target.kind === 'project' ? fragment`project` : fragment`test suite`
  const facts = [fragment`${kind} ${quote(target.id)}`]
  if (environment !== undefined) facts.push(fragment`environment ${quote(environment)}`)
  if (branch !== undefined)
    facts.push(fragment`${isCommit(branch) ? fragment`commit` : fragment`branch`} ${quote(branch)}`)
  if (frameworkProject !== undefined) facts.push(fragment`framework project ${quote(frameworkProject)}`)
  return join(facts, fragment`, `)
}

/** Empty if the step knows no run. */
export function linkedRunId({ runId, runUrl }: Pick<EndedStep, 'runId' | 'runUrl'>): Fragment {
  if (runId === undefined) return NONE
  return runUrl === undefined ? fragment`${runId}` : link(runUrl, fragment`${runId}`)
}

export function testedBranch({ run, subject }: StepOutcome): string | Untrusted | undefined {
  return run?.branchName ?? subject.parameters.branch
}
