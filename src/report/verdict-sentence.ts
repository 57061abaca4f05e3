import type { StepOutcome } from '../outcome/step-outcome.ts'
import { outcomeText } from './outcome-text.ts'
import { type LogLine, logLine } from './safe-text.ts'

export { verdictTitle } from './headline.ts'

/** What a person needs next, in one sentence: status, how many failed of how many, the first titles, the run's id. */
export function verdictSentence(result: StepOutcome): LogLine {
  return logLine`${outcomeText(result, 'with names')}.`
}
