import type { Checkout } from '../checkout/checkout.ts'
import type { Selection } from '../frameworks/framework.ts'
import { MARKER_VARIABLE } from '../machine/processes.ts'
import type { UserCommand } from '../machine/script.ts'
import type { Project } from '../settings/project.ts'
import type { RunOutput } from './output.ts'
import type { RunResources } from './resources.ts'

export interface RunContext {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  readonly selection: Selection
  /** The environment of the tests. Their PATH and the variables of the framework's reporter are added later. */
  readonly testEnv: NodeJS.ProcessEnv
  /** The person's own environment, for git and for the program that starts containers. */
  readonly personEnv: NodeJS.ProcessEnv
  readonly autofix: boolean
  readonly resources: RunResources
  readonly output: RunOutput
  readonly stopGraceMs: number
  readonly log: (text: string) => void
  /** Logs what the service could not do itself, and marks it in the store. */
  readonly logError: (text: string) => void
}

/** Says something about the run in the log, and in the output of the run, which the gate shows. */
export function tell({ log, output }: Pick<RunContext, 'log' | 'output'>, text: string): void {
  log(text)
  output.write(`[local service] ${text}\n`)
}

/** The command that installs the packages, if the run needs it. In the project's folder itself, they are installed. */
export function setupOf({ checkout, project }: RunContext): UserCommand | undefined {
  return checkout.kind === 'work-tree' ? project.setup : undefined
}

/** The environment of the run's git commands. After a kill of the service, the next service finds them by the marker. */
export function gitEnvironment({ runId, personEnv }: RunContext): NodeJS.ProcessEnv {
  return { ...personEnv, [MARKER_VARIABLE]: runId }
}
