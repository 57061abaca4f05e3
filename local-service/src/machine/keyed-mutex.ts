import PQueue from 'p-queue'

/** Runs tasks with the same key one after the other, in the order of the calls. */
export type RunExclusive = <T>(key: string, task: () => Promise<T>) => Promise<T>

export function createKeyedMutex(): RunExclusive {
  const queues = new Map<string, PQueue>()
  return (key, task) => {
    const queue = queues.get(key) ?? new PQueue({ concurrency: 1 })
    queues.set(key, queue)
    return queue.add(task)
  }
}
