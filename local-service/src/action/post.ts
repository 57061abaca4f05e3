import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import * as core from '@actions/core'
import { signalProcess } from '../runs/processes.ts'
import { describeFailedRuns } from './failed-runs.ts'
import { foldedLog, toMessage } from './runner-text.ts'
import { ServiceFolder } from './service-folder.ts'
import { spawnService } from './spawn-service.ts'

// The post step of the action local-service: stops the service and all that it started, and shows what failed. It never fails
// the job.

/** A service with a longer `stopGraceSeconds` is killed at this limit. */
const STOP_LIMIT_MS = 20_000
const KILL_LIMIT_MS = 5000
const POLL_MS = 50

const MAY_BE_LEFT =
  'The local service was killed, and post could not remove everything that the service left. Processes, containers and work ' +
  'trees of its runs may still be on this machine. The log above says what is known. To find the containers, run ' +
  '"docker ps --all --filter label=test-run-service.run", or the same with podman.'

async function post(): Promise<void> {
  const path = core.getState('folder')
  // If there is no folder, main has started nothing.
  if (path === '') return
  const folder = new ServiceFolder(path)
  folder.withdrawOrder()
  if (!(await hasEnded(folder, STOP_LIMIT_MS))) await kill(folder)
  const wasKilled = folder.hasBegun() && !folder.hasStopped()
  const mayBeLeft = wasKilled && !(await clean(folder))
  const failedRuns = folder.readFailedRuns()
  if (wasKilled || failedRuns.length > 0) core.info(foldedLog(folder.readLog()))
  const { GITHUB_STEP_SUMMARY: summary } = process.env
  if (summary && failedRuns.length > 0) appendFileSync(summary, describeFailedRuns(failedRuns))
  if (mayBeLeft) core.warning(MAY_BE_LEFT)
  folder.remove()
}

async function hasEnded(folder: ServiceFolder, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs
  while (folder.livingProcess() !== undefined) {
    if (performance.now() > deadlineMs) return false
    await delay(POLL_MS)
  }
  return true
}

/** Kills the service with its process group, which holds the commands of git and of container engines. */
async function kill(folder: ServiceFolder): Promise<void> {
  const pid = folder.livingProcess()
  if (pid === undefined) return
  signalProcess(-pid, 'SIGKILL')
  await hasEnded(folder, KILL_LIMIT_MS)
}

/**
 * A new process of the service removes what a killed service left: processes, containers, work trees, folders. Returns
 * whether it removed everything.
 */
async function clean(folder: ServiceFolder): Promise<boolean> {
  core.info(
    `The local service was killed, or did not stop within ${STOP_LIMIT_MS / 1000} s. Post now removes what the service left.`,
  )
  const cleaning = spawnService(folder, ['clean'])
  const timer = setTimeout(() => cleaning.kill('SIGKILL'), STOP_LIMIT_MS)
  const [exitCode] = await once(cleaning, 'exit').catch(() => [])
  clearTimeout(timer)
  return exitCode === 0
}

post().catch((error: Error) => core.warning(toMessage(`The local service may still run: ${error.message}`)))
