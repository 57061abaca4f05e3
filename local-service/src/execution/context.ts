import type { Checkout } from '../checkout/checkout.ts'
import type { Selection } from '../frameworks/framework.ts'
import type { TestedFolders } from '../machine/files.ts'
import type { UserCommand } from '../machine/script.ts'
import type { Project } from '../settings/project.ts'
import type { RunOutput } from './output.ts'
import type { RunResources } from './resources.ts'

export interface RunContext {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  /** What the run tests: the project's own folder, or its folder in the work tree. */
  readonly folders: TestedFolders
  /** The command that installs the packages, if the run needs it. In the project's folder itself, they are installed. */
  readonly setup: UserCommand | undefined
  readonly selection: Selection
  /** The environment of the project's commands. The variables of the framework's reporter are added later. */
  readonly testEnv: NodeJS.ProcessEnv
  /** The person's own environment, for the program that starts containers. */
  readonly personEnv: NodeJS.ProcessEnv
  /** The person's own environment for git, with the marker by which the next service finds git after a kill of this one. */
  readonly gitEnv: NodeJS.ProcessEnv
  readonly autofix: boolean
  readonly resources: RunResources
  readonly output: RunOutput
  /** Its reason is a `StopReason`. */
  readonly stop: AbortSignal
  readonly stopGraceMs: number
  /** Says something about the run in the log, and in the output of the run, which the gate shows. */
  readonly log: (text: string) => void
  /** Says there too what the service could not do itself. In a job, post warns of it. */
  readonly logError: (text: string) => void
}
