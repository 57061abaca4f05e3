import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseJson } from '../../../src/text/json.ts'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readRegularFile, removeFolder } from '../machine/files.ts'
import { killProcesses, readIfPossible, signalProcess, waitUntilGone } from '../machine/processes.ts'
import { SERVICE_STOPPED } from '../runs/run.ts'
import type { RunsAtEnd } from '../service.ts'
import { foldedGroup, toCommand } from '../text.ts'
import {
  environmentOfService,
  readEnd,
  SERVICE,
  type ServiceFolder,
  serviceFolder,
  TITLE_OF_LOG,
  wasNeverUsed,
} from './service-folder.ts'

// The post step of the action local-service stops the service, and shows what no gate has shown. It never fails the job.

const STOP_LIMIT_MS = 20_000

/** How much output of all runs the log has, as in the gate. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024

const KILLED =
  'The local service was killed or crashed before post stopped it, and its runs ended. A frequent cause is that no memory was left: ' +
  'choose a runner with more memory, or let fewer tests run at once. A step or a test may also have killed it. The log above has its last lines.'

const NO_RUN =
  'No gate has asked this local service for a run, so it has tested nothing. If a gate behind it was skipped or has failed, its step says why. ' +
  'Otherwise, put a gate directly behind this local service, because a gate uses the local service that started last.'

const NOT_AWAITED =
  'A run had not finished when the job ended, so nobody knows its verdict. Put a gate behind it that waits: leave out "wait: false", or give ' +
  'the id of the run to the input run-id of a further gate.'

const PROBLEM = 'The local service could not do something itself. The log above says what.'

const MAY_BE_LEFT =
  'Processes, containers and work trees of the local service may still be on this machine, because they could not be removed, or ' +
  'because nobody knows whether they were. The log above says what is known. To find the containers, run ' +
  '"docker ps --all --filter label=test-run-service.run", or the same with podman.'

/** The runner gives post what main wrote to `GITHUB_STATE`. */
async function post({ STATE_folder: path, STATE_process: id, 'STATE_is-up': isUp }: NodeJS.ProcessEnv): Promise<void> {
  // If there is no folder, main has started nothing.
  if (!path) return
  const folder = serviceFolder(path)
  const end = await attempt('stop the service', () => stop(folder, Number(id)))
  // If main did not see the service start, no gate knew its address, so it had no run. Main has shown why such a service failed.
  const failedAtStart = !isUp && end === 'was gone'
  if (!failedAtStart) await report(folder, end)
  if (isUp && wasNeverUsed(folder)) warn(NO_RUN)
  await attempt(`remove the private files in ${path}`, () => removeFolder(folder.privateFolder))
}

type End = 'was gone' | 'stopped' | 'killed'

/**
 * `end` is undefined if post could not stop the service.
 * 1. If the service stopped as post told it, its file names the runs. Otherwise, tests may have written that file, so post does not read it.
 * 2. Without that file, a clean-up removes what is left, and names the runs. If it fails too, nobody knows them.
 * 3. The log is shown unless the file says that nothing is left and nothing failed.
 * 4. The warnings follow the clean-up if there was one, else the file.
 */
async function report(folder: ServiceFolder, end: End | undefined): Promise<void> {
  const fromService =
    end === 'stopped' ? await attempt('read which runs have finished', () => readRuns(folder)) : undefined
  const runs = fromService ?? (await attempt('remove what the service left', () => cleanUp(folder)))
  const finished = runs?.finished ?? []
  await showOutput(finished, folder)
  if (finished.some(({ message }) => message === SERVICE_STOPPED)) warn(NOT_AWAITED)
  const endedWell = fromService?.isClean && !fromService.hadProblem
  if (!endedWell) {
    await attempt('show the log of the service', () => console.log(foldedGroup(TITLE_OF_LOG, readEnd(folder.log))))
  }
  if (end === 'was gone') console.log(toCommand('error', KILLED))
  if (!runs?.isClean) warn(MAY_BE_LEFT)
  else if (runs.hadProblem) warn(PROBLEM)
}

/** Undefined if the service has not written the file, for example because the disk was full. */
function readRuns({ runsAtEnd }: ServiceFolder): RunsAtEnd | undefined {
  return parseJson(readRegularFile(runsAtEnd)) as RunsAtEnd | undefined
}

/** The gate shows the output while the tests run. What no gate has shown is in a folded group here, for example after a kill. */
async function showOutput(runs: RunsAtEnd['finished'], folder: ServiceFolder): Promise<void> {
  let roomBytes = OUTPUT_LIMIT_BYTES
  for (const { runId, projectId, status, message, shownBytes } of runs) {
    await attempt(`show the output of run ${runId}`, () => {
      const file = join(folder.outputFolder, runId, 'output.txt')
      const output = readEnd(file, roomBytes, shownBytes)
      roomBytes = Math.max(0, roomBytes - Buffer.byteLength(output))
      // A gate that has shown the output has shown the message too.
      if (output === '' && (message === '' || shownBytes > 0)) return
      const title = `Output of run ${runId} (${projectId}): ${status}${shownBytes > 0 ? ', the rest' : ''}`
      console.log(foldedGroup(title, [output.trimEnd(), message].filter((text) => text !== '').join('\n')))
    })
  }
}

function warn(text: string): void {
  console.log(toCommand('warning', text))
}

async function attempt<T>(what: string, step: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    warn(`The post step of the local service could not ${what}: ${messageOf(error)}`)
    return undefined
  }
}

/** If the service does not end in time, post kills its process group. git and the container engines run in this group. */
async function stop(folder: ServiceFolder, id: number): Promise<End> {
  if (!isService(id, folder)) return 'was gone'
  const group = { groupId: id }
  signalProcess(id, 'SIGTERM')
  if ((await waitUntilGone(group, STOP_LIMIT_MS)).length === 0) return 'stopped'
  await killProcesses(group)
  return 'killed'
}

/** Whether the process with this id is the service. If the service has ended, another process may have its id. */
function isService(id: number, { path }: ServiceFolder): boolean {
  // The folder is the last argument of the service. A container may have no `ps`.
  if (process.platform === 'linux') return readIfPossible(`/proc/${id}/cmdline`).endsWith(`\0${path}\0`)
  const { stdout, error } = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(id)], { encoding: 'utf8' })
  if (error !== undefined) throw error
  return stdout.trimEnd().endsWith(` ${path}`)
}

/**
 * A new process of the service removes what a killed service left. Tests may have written a store whose queries never end, so this
 * process has a limit. Undefined if it fails. Its log says why.
 */
function cleanUp(folder: ServiceFolder): RunsAtEnd | undefined {
  console.log('The local service did not end as it should. Post now removes what the service left.')
  const limits = { timeout: STOP_LIMIT_MS, maxBuffer: OUTPUT_LIMIT_BYTES, killSignal: 'SIGKILL' } as const
  const options = { encoding: 'utf8', env: environmentOfService(folder), ...limits } as const
  const { stdout, stderr, error } = spawnSync(process.execPath, [SERVICE, 'clean', folder.path], options)
  // If the process could not be started, there is no output.
  console.log(foldedGroup('Log of the clean-up', stderr ?? ''))
  if (error !== undefined) throw error
  return parseJson(stdout) as RunsAtEnd | undefined
}

await post(process.env)
