import type { Run } from './run.ts'
import type { StartParameters, Target } from './start-parameters.ts'
import type { Ending, Verdict } from './verdict.ts'

/** Everything that the reports tell of a step, whatever its end. */
export interface StepResult {
  readonly verdict: Verdict
  readonly ending: Ending
  /** The last word of the service on the run; absent where it never said one. */
  readonly run?: Run
  readonly runId?: string
  readonly target: Target
  readonly parameters: StartParameters
  /** False where the step was given the run by `run-id`. */
  readonly ownsRun: boolean
  /** How long the step waited, start included. */
  readonly waitedMs: number
}
