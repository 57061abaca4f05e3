import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import * as core from '@actions/core'
import { messageOf } from '../../../src/text/untrusted.ts'
import { signalProcess } from '../machine/processes.ts'
import { describeRuns } from './job-summary.ts'
import { foldedGroup, LOG_LIMIT_BYTES, TITLE_OF_LOG, toCommandMessage } from './runner-text.ts'
import { type FinishedRun, ServiceFolder } from './service-folder.ts'
import { spawnService } from './spawn-service.ts'

// The post step of the action local-service: stops the service and all that it started, and shows the output of the tests. It never fails
// the job.
// The tests in local-service/test/job test this file.

const STOP_LIMIT_MS = 20_000
const KILL_LIMIT_MS = 5000
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [2, 50]

/** The log has at most this much of the output of each run. */
const OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024
const SUMMARY_OUTPUT_LIMIT_BYTES = 128 * 1024

const KILLED =
  'The local service was killed or crashed before post stopped it, and its runs ended. A frequent cause is that no memory was left: ' +
  'choose a runner with more memory, or let fewer tests run at once. A step or a test may also have killed it. The log above has its last lines.'

const MAY_BE_LEFT =
  'The local service was killed, and post could not remove everything that the service left. Processes, containers and work ' +
  'trees of its runs may still be on this machine. The log above says what is known. To find the containers, run ' +
  '"docker ps --all --filter label=test-run-service.run", or the same with podman.'

async function post(): Promise<void> {
  const path = core.getState('folder')
  // If there is no folder, main has started nothing.
  if (path === '') return
  const folder = new ServiceFolder(path)
  await attempt('withdraw the order of the service', () => folder.withdrawOrder())
  const end = await attempt('stop the service', () => stop(folder))
  const leftSomething = end !== undefined && folder.hasBegun() && !folder.hasStopped()
  const isClean = !leftSomething || (await attempt('remove what the service left', () => clean(folder)))
  const runs = (await attempt('read which runs have finished', () => folder.readFinishedRuns())) ?? []
  await showOutput(runs, folder)
  if (leftSomething || runs.some(({ status }) => status !== 'PASSED')) {
    const show = () => core.info(foldedGroup(TITLE_OF_LOG, folder.readLog(LOG_LIMIT_BYTES)))
    await attempt('show the log of the service', show)
  }
  if (leftSomething && end === 'before post') core.error(KILLED)
  await attempt('write the job summary', () => writeSummary(runs, folder))
  if (!isClean) core.warning(MAY_BE_LEFT)
  await attempt(`remove the folder ${path}`, () => folder.remove())
}

/** The gate shows the output while the tests run. What no gate has shown is in a folded group here, for example after a kill. */
async function showOutput(runs: readonly FinishedRun[], folder: ServiceFolder): Promise<void> {
  for (const { runId, projectId, status } of runs) {
    await attempt(`show the output of run ${runId}`, () => {
      const shownBytes = folder.readShownBytes(runId)
      const output = folder.readOutput(runId, OUTPUT_LIMIT_BYTES, shownBytes)
      const title = `Output of run ${runId} (${projectId}): ${status}`
      if (output.text !== '') core.info(foldedGroup(shownBytes > 0 ? `${title}, the rest` : title, output))
      else if (shownBytes > 0)
        core.info(`The output of run ${runId} (${projectId}) is in the log of the step that waited for it.`)
    })
  }
}

function writeSummary(runs: readonly FinishedRun[], folder: ServiceFolder): void {
  const { GITHUB_STEP_SUMMARY: summary } = process.env
  const shown = runs.flatMap(({ message, ...run }) => {
    if (message === undefined) return []
    const output = folder.readOutput(run.runId, SUMMARY_OUTPUT_LIMIT_BYTES).text
    return { ...run, message, output }
  })
  if (summary && shown.length > 0) appendFileSync(summary, describeRuns(shown))
}

/** Does one step of post. If it fails, post warns, returns undefined, and goes on with the next step. */
async function attempt<T>(what: string, step: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    core.warning(toCommandMessage(`The post step of the local service could not ${what}: ${messageOf(error)}`))
    return undefined
  }
}

/**
 * Ends the service, and waits until it has ended. If it does not end in time, kills it with its process group, which holds
 * the commands of git and of container engines. Returns when the service ended.
 */
async function stop(folder: ServiceFolder): Promise<'before post' | 'in post'> {
  const pid = folder.livingProcess()
  if (pid === undefined) return 'before post'
  // The signal stops the service even if its order cannot be withdrawn.
  signalProcess(pid, 'SIGTERM')
  if (await waitForEnd(folder, STOP_LIMIT_MS)) return 'in post'
  const hanging = folder.livingProcess()
  if (hanging !== undefined) signalProcess(-hanging, 'SIGKILL')
  await waitForEnd(folder, KILL_LIMIT_MS)
  return 'in post'
}

/** Whether the service has ended in time. A service without a run ends within milliseconds, so the first pauses are short. */
async function waitForEnd(folder: ServiceFolder, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs
  let pauseMs = FIRST_PAUSE_MS
  while (folder.livingProcess() !== undefined) {
    if (performance.now() > deadlineMs) return false
    await delay(pauseMs)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
  return true
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

await post()
