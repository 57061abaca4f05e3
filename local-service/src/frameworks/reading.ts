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

const LIMITS = { seconds: 30, mebibytes: 1024, thread: THREAD }
/** The client that stops a run waits for the test cases that the run has so far. */
export const STOPPED_SECONDS = 5

/** Reads for one run, one thing after the other. */
export class ReadingThread {
  readonly #stop: AbortSignal
  readonly #limits: typeof LIMITS
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  /** Whether the stop of the run has ended a reading of its results. Then the results are given up. */
  #hasGivenUp = false
  /** Whether the run has disposed of this object. Then nobody but the reading itself ends the thread of a later reading. */
  #isDisposed = false

  /** A run that is stopped ends what is being read, and then reads nothing more. */
  constructor(stop: AbortSignal, limits: Partial<typeof LIMITS> = {}) {
    this.#stop = stop
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Starts the thread, so that it is ready when the tests have ended. If that fails, a later reading tries again. */
  start(): void {
    try {
      this.#start()
    } catch {
      // The reading says why.
    }
  }

  #start(): Worker {
    if (this.#worker === undefined) {
      const { mebibytes, thread } = this.#limits
      this.#worker = new Worker(thread, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: mebibytes } })
      // A thread that fails between two readings is replaced at the next one.
      this.#worker.on('error', () => this.#end())
      this.#worker.unref()
    }
    return this.#worker
  }

  read<Name extends keyof Readers>(
    name: Name,
    input: Parameters<Readers[Name]>[0],
  ): Promise<Reading<Awaited<ReturnType<Readers[Name]>>>> {
    // A run that is stopped already asks for the test cases that it has so far. The stop does not end this reading.
    const isAfterStop = this.#stop.aborted
    const reading = this.#last.then(() => this.#read({ name, input }, isAfterStop))
    this.#last = reading
    return reading as Promise<Reading<Awaited<ReturnType<Readers[Name]>>>>
  }

  async #read(request: Request, isAfterStop: boolean): Promise<Reading<unknown>> {
    if (this.#hasGivenUp) return { kind: 'stopped' }
    let worker: Worker
    try {
      worker = this.#start()
    } catch (error) {
      // For example, the system allows no further thread. A later reading tries again.
      return { kind: 'failed', why: `its report cannot be read: ${messageOf(error)}` }
    }
    const reading = await this.#ask(worker, request, isAfterStop)
    // If it only counted the tests so far, the stopped run still has to read its results.
    if (reading.kind === 'stopped' && request.name !== 'progress') this.#hasGivenUp = true
    if (reading.kind !== 'read' || this.#isDisposed) await this.#end()
    return reading
  }

  async #ask(worker: Worker, request: Request, isAfterStop: boolean): Promise<Reading<unknown>> {
    const { promise, resolve } = Promise.withResolvers<Reading<unknown>>()
    let report = 'its report'
    const overLimit = (what: string) => resolve({ kind: 'over-limit', why: `${report} ${what}` })
    const fail = (why: string, kind: 'over-limit' | 'failed' = 'failed') =>
      resolve({ kind, why: `${report} cannot be read: ${why}` })
    const onMessage = (response: Response) => {
      if (response.kind === 'file') report = `its report ${quote(response.file)}`
      else if (response.kind === 'over-limit' || response.kind === 'failed') fail(response.why, response.kind)
      else resolve(response)
    }
    const onError = (error: Error) => {
      if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        overLimit(`takes more than ${this.#limits.mebibytes} MiB of memory to read`)
      else fail(messageOf(error))
    }
    const onExit = () => fail('its thread has ended')
    const onStop = () => resolve({ kind: 'stopped' })
    const seconds = isAfterStop ? STOPPED_SECONDS : this.#limits.seconds
    const timer = setTimeout(() => overLimit(`takes longer than ${seconds} s to read`), seconds * 1000)
    if (!isAfterStop) {
      if (this.#stop.aborted) onStop()
      this.#stop.addEventListener('abort', onStop, { once: true })
    }
    worker.on('message', onMessage).on('error', onError).on('exit', onExit).ref()
    worker.postMessage(request)
    const reading = await promise
    clearTimeout(timer)
    this.#stop.removeEventListener('abort', onStop)
    worker.off('message', onMessage).off('error', onError).off('exit', onExit).unref()
    return reading
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  /** Ends the thread. A later reading has a thread for itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await this.#end()
  }
}
