/** Runs tasks with the same key one after the other, in the order of the calls. */
export type RunExclusive = <T>(key: string, task: () => Promise<T>) => Promise<T>

export function createKeyedMutex(): RunExclusive {
  const lastTasks = new Map<string, Promise<unknown>>()
  return async (key, task) => {
    const previous = lastTasks.get(key)
    const current = (async () => {
      // Whether the previous task failed concerns its own caller only.
      await previous?.catch(() => undefined)
      return task()
    })()
    lastTasks.set(key, current)
    try {
      return await current
    } finally {
      if (lastTasks.get(key) === current) lastTasks.delete(key)
    }
  }
}
