import type { Configuration } from '../configuration.ts'
import { messageOf } from '../text.ts'
import { isFinished, type OwnedRun } from './run.ts'
import type { RunStore } from './run-store.ts'

/** A run in memory, and whether the store has its current state. */
export interface SavedRun {
  readonly run: OwnedRun
  isSaved: boolean
}

export interface SaverOptions extends Pick<Configuration, 'keepRuns' | 'keepMs'> {
  readonly store: RunStore
  readonly log: (runId: string, text: string) => void
}

const RETRY_MS = 1000

/** Saves runs. If a run cannot be saved, for example on a full disk, clients still learn its outcome. It is saved later. */
export class RunSaver {
  readonly #options: SaverOptions
  readonly #unsaved = new Set<SavedRun>()
  readonly #onSaved: (saved: SavedRun) => void
  #retry: NodeJS.Timeout | undefined

  constructor(options: SaverOptions, onSaved: (saved: SavedRun) => void) {
    this.#options = options
    this.#onSaved = onSaved
  }

  save(saved: SavedRun): void {
    const { run } = saved
    const { store } = this.#options
    saved.isSaved = this.attempt(run.runId, 'could not be saved', () => store.save(run))
    if (saved.isSaved) this.#unsaved.delete(saved)
    else this.#saveLater(saved)
    if (saved.isSaved && isFinished(run)) this.attempt(run.runId, 'could not forget older runs', () => this.forgetOld())
  }

  /** Returns false if the action failed. The log then says why. */
  attempt(runId: string, whatFailed: string, action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      this.#options.log(runId, `${whatFailed}: ${messageOf(error)}`)
      return false
    }
  }

  forgetOld(): void {
    const { store, keepRuns, keepMs } = this.#options
    store.forget(keepRuns, new Date(Date.now() - keepMs))
  }

  /** Tries to save once more. */
  close(): void {
    clearTimeout(this.#retry)
    this.#saveAgain()
    clearTimeout(this.#retry)
    for (const { run } of this.#unsaved) this.#options.log(run.runId, 'is not saved, and INTERRUPTED after a restart')
  }

  #saveLater(saved: SavedRun): void {
    this.#unsaved.add(saved)
    this.#retry ??= setTimeout(() => this.#saveAgain(), RETRY_MS).unref()
  }

  #saveAgain(): void {
    this.#retry = undefined
    for (const saved of this.#unsaved) {
      const { run } = saved
      try {
        this.#options.store.save(run)
      } catch {
        this.#saveLater(saved)
        return
      }
      this.#unsaved.delete(saved)
      saved.isSaved = true
      this.#options.log(run.runId, 'is saved now')
      this.#onSaved(saved)
    }
  }
}
