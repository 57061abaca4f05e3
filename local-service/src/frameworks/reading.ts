import { on } from 'node:events'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote, toSentence } from '../text.ts'
import type { Readers, Request, Response } from './reading-thread.ts'
import { type Unusable, unusable } from './unusable.ts'

// Tests may have written anything: a file that takes minutes to read, or all memory. So a thread with limits reads it. The service
// responds meanwhile, and survives.

/** Here it is TypeScript, which Node runs. In the bundle, it is a file of its own. */
const THREAD =
  extname(import.meta.filename) === '.ts'
    ? join(import.meta.dirname, 'reading-thread.ts')
    : join(import.meta.dirname, '../reading/index.js')

const LIMITS = { seconds: 30, stoppedSeconds: 5, mebibytes: 1024, thread: THREAD }

type Value<Name extends keyof Readers> = Awaited<ReturnType<Readers[Name]>>

/** Reads for one run. Each reading has a thread of its own, which ends with the reading. */
export class ResultReader {
  readonly #stop: AbortSignal
  readonly #limits: typeof LIMITS
  /** Undefined if the thread of the next reading was not started before. */
  #preparedThread: Worker | undefined

  constructor(stop: AbortSignal, limits: Partial<typeof LIMITS> = {}) {
    this.#stop = stop
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Starts the thread of the next reading, so that it is ready when the tests have ended. If that fails, the reading tries again. */
  prepareThread(): void {
    try {
      this.#preparedThread = this.#create().on('error', () => {
        this.#preparedThread = undefined
      })
    } catch {
      // For example, the system allows no further thread.
    }
  }

  #create(): Worker {
    const { mebibytes, thread } = this.#limits
    return new Worker(thread, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: mebibytes } })
  }

  /** What ends the reading of results. */
  createLimit(limitSeconds = this.#limits.seconds) {
    const { stoppedSeconds } = this.#limits
    if (this.#stop.aborted) {
      // The client that stopped the run waits for the test cases that the run has so far.
      return { seconds: stoppedSeconds, signal: AbortSignal.timeout(stoppedSeconds * 1000) }
    }
    const signal = AbortSignal.any([AbortSignal.timeout(limitSeconds * 1000), this.#stop])
    return { seconds: limitSeconds, signal }
  }

  async read<Name extends keyof Readers>(
    name: Name,
    input: Parameters<Readers[Name]>[0],
  ): Promise<Value<Name> | Unusable> {
    const { seconds, signal } = this.createLimit()
    let worker: Worker | undefined
    let report = 'The report'
    const cannotBeRead = (why: string, isOverLimit = false) =>
      unusable(toSentence(`${report} cannot be read: ${why}`), isOverLimit ? 'over-limit' : 'unusable')
    try {
      worker = this.#preparedThread ?? this.#create()
      this.#preparedThread = undefined
      const responses = on(worker, 'message', { signal, close: ['exit'] })
      worker.postMessage({ name, input } satisfies Request)
      for await (const [response] of responses as AsyncIterable<[Response]>) {
        if (response.kind === 'result') return response.result as Value<Name> | Unusable
        if (response.kind === 'error') return cannotBeRead(response.why, response.isOverLimit)
        report = `The report ${quote(response.file)}`
      }
      return cannotBeRead('its thread has ended')
    } catch (error) {
      if (signal.reason?.name === 'TimeoutError') {
        return unusable(`${report} takes longer than ${seconds} s to read.`, 'over-limit')
      }
      // Nobody reads this reason, because the run has the reason of the stop.
      if (signal.aborted) return unusable('The run was stopped.')
      if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
        return unusable(`${report} takes more than ${this.#limits.mebibytes} MiB of memory to read.`, 'over-limit')
      }
      return cannotBeRead(messageOf(error))
    } finally {
      await worker?.terminate()
    }
  }

  /** Ends the thread that no reading has used. */
  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#preparedThread
    this.#preparedThread = undefined
    await worker?.terminate()
  }
}
