import { on } from 'node:events'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import { quote } from '../text.ts'
import type { Readers, Request, Response } from './reading-thread.ts'

// Tests may have written anything: a file that takes minutes to read, or all memory. So a thread with limits reads it. The service
// responds meanwhile, and survives.

export type Reading<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  /** `why` is the rest of a sentence about the folder of the reports. */
  | { readonly kind: 'unusable'; readonly why: string }
  /** `why` is the rest of a sentence about the framework. */
  | { readonly kind: 'over-limit'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }
  /** The run was stopped meanwhile. */
  | { readonly kind: 'stopped' }

/** Here it is TypeScript, which Node runs. In the bundle, it is a file of its own. */
const THREAD =
  extname(import.meta.filename) === '.ts'
    ? join(import.meta.dirname, 'reading-thread.ts')
    : join(import.meta.dirname, '../reading/index.js')

/** The client that stops a run waits for the test cases that the run has so far. */
export const STOPPED_SECONDS = 5

const LIMITS = { seconds: 30, stoppedSeconds: STOPPED_SECONDS, mebibytes: 1024, thread: THREAD }

type Value<Name extends keyof Readers> = Awaited<ReturnType<Readers[Name]>>

/** Reads for one run. Each reading has a thread of its own, which ends with the reading. */
export class ReadingThread {
  readonly #stop: AbortSignal
  readonly #limits: typeof LIMITS
  /** Undefined if the thread of the next reading was not started before. */
  #nextThread: Worker | undefined

  constructor(stop: AbortSignal, limits: Partial<typeof LIMITS> = {}) {
    this.#stop = stop
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Starts the thread of the next reading, so that it is ready when the tests have ended. If that fails, the reading tries again. */
  startNextThread(): void {
    try {
      this.#nextThread = this.#create().on('error', () => {
        this.#nextThread = undefined
      })
    } catch {
      // For example, the system allows no further thread.
    }
  }

  #create(): Worker {
    const { mebibytes, thread } = this.#limits
    return new Worker(thread, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: mebibytes } })
  }

  /** A stop ends the reading. A run that is stopped already reads the test cases that it has so far, but not for long. */
  async read<Name extends keyof Readers>(
    name: Name,
    input: Parameters<Readers[Name]>[0],
  ): Promise<Reading<Value<Name>>> {
    const isAfterStop = this.#stop.aborted
    const seconds = isAfterStop ? this.#limits.stoppedSeconds : this.#limits.seconds
    const limit = AbortSignal.timeout(seconds * 1000)
    const signal = isAfterStop ? limit : AbortSignal.any([limit, this.#stop])
    let worker: Worker | undefined
    let report = 'its report'
    try {
      worker = this.#nextThread ?? this.#create()
      this.#nextThread = undefined
      const responses = on(worker, 'message', { signal, close: ['exit'] })
      worker.postMessage({ name, input } satisfies Request)
      for await (const [response] of responses as AsyncIterable<[Response]>) {
        if (response.kind === 'read') return { kind: 'read', value: response.value as Value<Name> }
        if (response.kind === 'unusable') return response
        if (response.kind !== 'file') return { kind: response.kind, why: `${report} cannot be read: ${response.why}` }
        report = `its report ${quote(response.file)}`
      }
      return { kind: 'failed', why: `${report} cannot be read: its thread has ended` }
    } catch (error) {
      if (limit.aborted) return { kind: 'over-limit', why: `${report} takes longer than ${seconds} s to read` }
      if (signal.aborted) return { kind: 'stopped' }
      if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
        const why = `${report} takes more than ${this.#limits.mebibytes} MiB of memory to read`
        return { kind: 'over-limit', why }
      }
      return { kind: 'failed', why: `${report} cannot be read: ${messageOf(error)}` }
    } finally {
      await worker?.terminate()
    }
  }

  /** Ends the thread that no reading has used. */
  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#nextThread
    this.#nextThread = undefined
    await worker?.terminate()
  }
}
