import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readJunitReports } from './junit-reports.ts'

// The thread in which the service reads what tests wrote. `reading.ts` starts it, and ends it if it takes too much.

const READERS = {
  junit: readJunitReports,
}

export type Readers = typeof READERS

export interface Request {
  readonly name: keyof Readers
  readonly input: Parameters<Readers[keyof Readers]>[0]
}

export type Response =
  /** The reader begins with this file. */
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly why: string }

const respond = (response: Response) => parentPort?.postMessage(response)

parentPort?.on('message', async ({ name, input }: Request) => {
  try {
    respond({ kind: 'read', value: await READERS[name](input, (file) => respond({ kind: 'file', file })) })
  } catch (error) {
    respond({ kind: 'failed', why: messageOf(error) })
  }
})
