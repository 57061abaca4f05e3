import type { Baseline } from '../model/baseline.ts'
import type { EndedStep, StepOutcome, StepSubject } from '../model/outcome.ts'
import { isCommit } from '../model/run.ts'
import { type Fragment, fragment, link, quote } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { COMMA, join, NONE, type Parts } from './phrases.ts'

/** What a page says besides its headline. With the input `run-id`, `parameters` is empty, because another step has started the run. */
export function factsOf(outcome: StepOutcome): Parts {
  const { target, parameters, baseline } = outcome.subject
  const { environment, autofix } = parameters
  const branch = reportedOrAskedBranch(outcome)
  const isMetadata = target.kind === 'test-suite' && branch !== undefined
  return [
    environment === undefined ? undefined : fragment`Environment ${environment}`,
    branch === undefined ? undefined : fragment`${isCommit(branch) ? fragment`Commit` : fragment`Branch`} ${branch}`,
    isMetadata ? fragment`The branch is metadata only, so the service may test another branch` : undefined,
    outcome.runId === undefined ? undefined : fragment`Run ${linkedRunId(outcome)}`,
    autofix === undefined ? undefined : fragment`Auto-fix ${autofix ? fragment`on` : fragment`off`}`,
    baseline && baselineText(baseline),
  ]
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
  const branchKind = isCommit(branch ?? '') ? fragment`commit` : fragment`branch`
  return join(
    [
      fragment`${kind} ${quote(target.id)}`,
      environment === undefined ? undefined : fragment`environment ${quote(environment)}`,
      branch === undefined ? undefined : fragment`${branchKind} ${quote(branch)}`,
      frameworkProject === undefined ? undefined : fragment`framework project ${quote(frameworkProject)}`,
    ],
    COMMA,
  )
}

/** Empty if the step knows no run. */
export function linkedRunId({ runId, runUrl }: Pick<EndedStep, 'runId' | 'runUrl'>): Fragment {
  if (runId === undefined) return NONE
  return runUrl === undefined ? fragment`${runId}` : link(runUrl, fragment`${runId}`)
}

export function reportedOrAskedBranch({ run, subject }: StepOutcome): string | Untrusted | undefined {
  return run?.branchName ?? subject.parameters.branch
}
