/** Runs tasks with the same key one after the other, in the order of the calls. */
export type RunExclusive = <T>(key: string, task: () => Promise<T>) => Promise<T>

export function createKeyedMutex(): RunExclusive {
  const lastTasks = new Map<string, Promise<unknown>>()
  return (key, task) => {
    // Whether the previous task failed concerns its own caller only.
    const previous = Promise.resolve(lastTasks.get(key)).catch(() => undefined)
    const current = previous.then(task)
    lastTasks.set(key, current)
    return current
  }
}
