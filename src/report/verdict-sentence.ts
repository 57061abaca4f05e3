import type { StepResult } from '../domain/step-result.ts'
import { type LogLine, line } from './inert.ts'
import { whatHappened } from './what-happened.ts'

export { verdictTitle } from './headline.ts'

/** What a person needs next, in one sentence: status, how many failed of how many, the first titles, the run's id. */
export function verdictSentence(result: StepResult): LogLine {
  return line`${whatHappened(result, 'with names')}.`
}
