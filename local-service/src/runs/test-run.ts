import type { Selection } from '../frameworks/framework.ts'
import type { Project } from '../project.ts'
import type { Checkout } from '../workspace/checkout.ts'
import type { RunExclusive } from '../workspace/keyed-mutex.ts'
import type { RunOutput } from './run-output.ts'
import type { RunProgress } from './run-progress.ts'
import type { RunResources } from './run-resources.ts'

/** Everything that is known about a run before it starts. */
export interface TestRun {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  readonly selection: Selection
  /** The environment of the tests. Their PATH and the variables of the framework's reporter are added later. */
  readonly env: NodeJS.ProcessEnv
  /** The person's own environment, for git and for the program that starts containers. */
  readonly personEnv: NodeJS.ProcessEnv
  readonly autofix: boolean
  readonly resources: RunResources
  readonly output: RunOutput
  readonly progress: RunProgress
  readonly stopGraceMs: number
  readonly log: (text: string) => void
  /** Runs one task of a repository at a time. git fails if another process has an unfinished work tree there. */
  readonly runExclusive: RunExclusive
}
