import type { RunStore } from './store.ts'

/** What the queue, the recovery and each start use of the service. */
export interface CommonContext {
  readonly store: RunStore
  readonly personEnv: NodeJS.ProcessEnv
  readonly log: (text: string) => void
  /** Logs what the service could not do itself, and marks it in the store. */
  readonly logError: (text: string) => void
}
