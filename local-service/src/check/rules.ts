import type { Exchange } from './exchange.ts'
import type { Observations } from './observations.ts'
import { CANCELS } from './rules/cancels.ts'
import { EVERY_REQUEST } from './rules/every-request.ts'
import { READS } from './rules/reads.ts'
import { RESULTS } from './rules/results.ts'
import type { Rule } from './rules/rule.ts'
import { STARTS } from './rules/starts.ts'
import { SUITES } from './rules/suites.ts'
import { TIMES } from './rules/times.ts'

const ALL = { ...EVERY_REQUEST, ...STARTS, ...READS, ...TIMES, ...RESULTS, ...CANCELS, ...SUITES }

export type RuleId = keyof typeof ALL

/** Each rule stands under its request and its id. */
export const RULES: Readonly<Record<string, Readonly<Partial<Record<RuleId, Rule>>>>> = {
  'Every request': EVERY_REQUEST,
  'POST /v1/projects/{projectId}/runs': STARTS,
  'GET /v1/projects/{projectId}/runs/{runId}': { ...READS, ...TIMES, ...RESULTS },
  'POST /v1/projects/{projectId}/runs/cancel': CANCELS,
  '/v1/testSuite… and /v1/testSuiteRun…': SUITES,
}

export interface RuleResult extends Omit<Rule, 'judge' | 'needs'> {
  readonly id: RuleId
  readonly request: string
  /** "differs" is for a note that the service does not keep. That is no mistake of the service. */
  readonly verdict: 'holds' | 'broken' | 'differs' | 'not observed'
  /** What breaks the rule, or what is needed to observe it. */
  readonly detail?: string | undefined
  readonly exchange?: Exchange | undefined
}

/** Judges every rule by what was seen. */
export function judge(seen: Observations): RuleResult[] {
  return Object.entries(RULES).flatMap(([request, rules]) =>
    Object.entries(rules).map(([id, rule]) => ({ request, ...resultOf(id as RuleId, rule, seen) })),
  )
}

function resultOf(id: RuleId, { judge: find, needs, ...rule }: Rule, seen: Observations): Omit<RuleResult, 'request'> {
  const findings = find(seen, id)
  if (findings.length === 0) return { id, ...rule, verdict: 'not observed', detail: needs && `This needs ${needs}.` }
  const [problem, ...others] = findings.filter((finding) => finding.problem !== undefined)
  if (problem === undefined) return { id, ...rule, verdict: 'holds' }
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  const verdict = rule.kind === 'note' ? 'differs' : 'broken'
  return { id, ...rule, verdict, detail: `${problem.problem}${more}`, exchange: problem.exchange }
}
