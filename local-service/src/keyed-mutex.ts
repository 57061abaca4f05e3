/** Runs tasks that name the same thing one after the other, in the order in which they came. */
export type InTurn = <T>(thing: string, task: () => Promise<T>) => Promise<T>

export function createTurns(): InTurn {
  const lastOf = new Map<string, Promise<unknown>>()
  return async (thing, task) => {
    const before = lastOf.get(thing)
    const mine = (async () => {
      // How the one before ended is its own caller's business.
      await before?.catch(() => undefined)
      return task()
    })()
    lastOf.set(thing, mine)
    try {
      return await mine
    } finally {
      if (lastOf.get(thing) === mine) lastOf.delete(thing)
    }
  }
}
