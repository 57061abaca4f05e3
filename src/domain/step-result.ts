import type { Order, Target } from './order.ts'
import type { Run } from './run.ts'
import type { Ending, Verdict } from './verdict.ts'

/** Everything that the reports tell of a step, whatever its end. */
export interface StepResult {
  readonly verdict: Verdict
  readonly ending: Ending
  /** The last word of the service on the run; absent where it never said one. */
  readonly run?: Run
  readonly runId?: string
  readonly target: Target
  readonly order: Order
  /** False where the step was given the run by `run-id`. */
  readonly startedHere: boolean
  /** How long the step waited, start included. */
  readonly waitedMs: number
}
