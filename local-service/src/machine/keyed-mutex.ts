/** Runs tasks with the same key one after the other, in the order of the calls. */
export type RunExclusive = <T>(key: string, task: () => Promise<T>) => Promise<T>

export function createKeyedMutex(): RunExclusive {
  const ends = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const result = (ends.get(key) ?? Promise.resolve()).then(task)
    ends.set(
      key,
      result.catch(() => undefined),
    )
    return result
  }
}
