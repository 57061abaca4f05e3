import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as core from '@actions/core'
import { describeFailedRuns } from './failed-runs.ts'
import { foldedLog, toMessage } from './runner-text.ts'
import { ServiceFolder } from './service-folder.ts'

// The post step of the action local-service: stops the service and all that it started, and shows what failed. It never fails
// the job.

const SERVICE = join(import.meta.dirname, '../service/index.js')
/** This must be longer than the service gives its tests to stop. */
const STOP_LIMIT_MS = 20_000
const KILL_LIMIT_MS = 5000
const LOOK_MS = 50

async function post(): Promise<void> {
  const path = core.getState('folder')
  // If there is no folder, main has started nothing.
  if (path === '') return
  const folder = new ServiceFolder(path)
  folder.withdrawOrder()
  if (!(await hasEnded(folder, STOP_LIMIT_MS))) await kill(folder)
  const wasKilled = folder.hasBegun() && !folder.hasStopped()
  if (wasKilled) await clean(folder)
  const failedRuns = folder.readFailedRuns()
  if (wasKilled || failedRuns.length > 0) core.info(foldedLog(folder.readLog()))
  const { GITHUB_STEP_SUMMARY: summary } = process.env
  if (summary && failedRuns.length > 0) appendFileSync(summary, describeFailedRuns(failedRuns))
  folder.remove()
}

async function hasEnded(folder: ServiceFolder, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs
  while (folder.livingProcess() !== undefined) {
    if (performance.now() > deadlineMs) return false
    await delay(LOOK_MS)
  }
  return true
}

/** Kills the service with its process group, which holds the commands of git and of container engines. */
async function kill(folder: ServiceFolder): Promise<void> {
  const pid = folder.livingProcess()
  if (pid === undefined) return
  process.kill(-pid, 'SIGKILL')
  await hasEnded(folder, KILL_LIMIT_MS)
}

/** A new process of the service removes what a killed service left: processes, containers, work trees, folders. */
async function clean(folder: ServiceFolder): Promise<void> {
  core.info('The local service did not stop by itself. Its tests are stopped now.')
  const log = openSync(folder.logFile, 'a')
  const cleaning = spawn(process.execPath, [SERVICE, folder.path, 'clean'], { stdio: ['ignore', log, log] })
  closeSync(log)
  const timer = setTimeout(() => cleaning.kill('SIGKILL'), STOP_LIMIT_MS)
  await once(cleaning, 'exit')
  clearTimeout(timer)
}

post().catch((error: Error) => core.warning(toMessage(`The local service may not be stopped: ${error.message}`)))
