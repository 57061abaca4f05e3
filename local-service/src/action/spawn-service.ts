import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceFolder } from './service-folder.ts'

// The tests in local-service/test/job test this file.

const SERVICE = join(import.meta.dirname, '../service/index.js')

/** Starts a process of the service. Its output goes to the log file, because the runner would wait for pipes. */
export function spawnService(folder: ServiceFolder, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const log = openLog(folder)
  try {
    return spawn(process.execPath, [SERVICE, folder.path, ...args], { ...options, stdio: ['ignore', log, log] })
  } finally {
    if (log !== 'ignore') closeSync(log)
  }
}

/** If a test has replaced the log, the process must start all the same. */
function openLog(folder: ServiceFolder): number | 'ignore' {
  try {
    return folder.openLog()
  } catch {
    return 'ignore'
  }
}
