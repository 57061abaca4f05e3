import { readIfPossible } from '../runs/processes.ts'

/** The kernel's count of processes that it killed because no memory was left: of the container, or of the whole machine. */
const COUNTS = ['/sys/fs/cgroup/memory.events', '/proc/vmstat']

/** How many processes the kernel has killed because no memory was left. Undefined if the system does not say so. */
export function countOutOfMemoryKills(): number | undefined {
  for (const file of COUNTS) {
    const [, kills] = /^oom_kill (\d+)$/m.exec(readIfPossible(file)) ?? []
    if (kills !== undefined) return Number(kills)
  }
  return undefined
}
