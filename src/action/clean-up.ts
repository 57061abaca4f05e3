import type { MainFile } from '../handover/main-file.ts'
import { failureSentences } from '../report/failure-text.ts'
import { CANCEL_IT, durationText, RUN_WITHOUT_ID } from '../report/phrases.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { cancelRun } from './cancel-run.ts'
import type { RunWorld } from './world.ts'

/** Short, because the job ends only after post. */
const POST_LIMIT_MS = 60_000
/** A main that lives answers within a quarter of a second, unless it is blocked. */
const ANSWER_LIMIT_MS = 5_000
/** Main exits within 9.5 s, but it may be slow. */
const EXIT_LIMIT_MS = 12_000
const CHECK_INTERVAL_MS = 100

interface PostWorld extends Omit<RunWorld, 'service'> {
  /** Opens the service. If the inputs are not valid any more, returns the sentences that say so. */
  readonly open: () => Promise<RunWorld['service'] | { readonly problem: Fragment }>
  /** Whether the inputs still name the service and the target to which the file belongs. */
  readonly hasSameInputs: (file: MainFile) => boolean
}

/** Stops each main that still lives, and does what its file says is left to do. Whatever fails is a warning. */
export async function cleanUpAfterMain(files: readonly MainFile[], world: PostWorld): Promise<void> {
  const cleanUpOne = async (file: MainFile) => {
    try {
      await stopMain(file, world)
      if (file.exists()) await doWhatIsLeft(file, world)
    } catch (cause) {
      world.log.warning(
        fragment`The post step does not know what this step has left to do: ${messageOf(cause)}. If the step has started a run, that run may still be running. ${CANCEL_IT}`,
      )
    } finally {
      file.removeAll()
    }
  }
  await Promise.all(files.map(cleanUpOne))
}

/** Asks main to stop. If main lives, waits until it has removed its file. A main that lives cancels its run itself. */
async function stopMain(file: MainFile, world: PostWorld): Promise<void> {
  // If post cannot ask, it takes main for dead.
  if (!file.askToStop()) return
  await waitUntil(() => !file.exists() || file.isStopAnswered(), ANSWER_LIMIT_MS, world)
  // This is read before `exists()`. If another post removed both files between the two calls, this post would otherwise take that for an answer,
  // and log that main is still running.
  const hasAnswered = file.isStopAnswered()
  // Without its file, main has nothing left to do. Without an answer, main is dead.
  if (!file.exists() || !hasAnswered) return
  world.log.info(fragment`The step's process is still running. It has up to ${durationText(EXIT_LIMIT_MS)} to exit.`)
  await waitUntil(() => !file.exists(), EXIT_LIMIT_MS, world)
}

async function waitUntil(isTrue: () => boolean, limitMs: number, { clock, signal }: PostWorld): Promise<void> {
  const deadlineMs = clock.now() + limitMs
  while (!isTrue() && clock.now() < deadlineMs && !signal.aborted) await clock.sleep(CHECK_INTERVAL_MS, signal)
}

async function doWhatIsLeft(file: MainFile, world: PostWorld): Promise<void> {
  const { log } = world
  const left = file.read()
  log.debug?.(fragment`Post found ${file.path}: ${JSON.stringify(left)}`)
  switch (left.phase) {
    case 'nothing started':
      return
    case 'starting':
      log.warning(
        fragment`The step may have sent a start request, but it saved no run id for the post step. ${RUN_WITHOUT_ID}`,
      )
      return
    case 'started': {
      if (!left.mayCancel) return
      const problem = await cancel(left.runId, file, world)
      if (problem !== undefined) log.warning(fragment`Run ${left.runId} may still be running. ${problem} ${CANCEL_IT}`)
    }
  }
}

/** If the run may still be running, returns sentences that say why. */
async function cancel(runId: string, file: MainFile, world: PostWorld): Promise<Fragment | undefined> {
  const { clock, log } = world
  if (!world.hasSameInputs(file))
    return fragment`The post step cannot cancel the run, because base-url, project or test-suite has another value now. Perhaps a later step changed a variable that the input uses.`
  const service = await world.open()
  if ('problem' in service) return service.problem
  const nowMs = clock.now()
  // Main may have started the run just before it was killed, so post counts `NOT_FOUND_GRACE_MS` from now.
  const handle = { id: runId, knownSinceMs: nowMs }
  const result = await cancelRun({ handle }, nowMs + POST_LIMIT_MS, { ...world, service })
  switch (result.kind) {
    case 'cancelled':
      log.info(fragment`Run ${runId} was cancelled.`)
      return undefined
    case 'already-finished':
      log.info(fragment`Run ${runId} had already finished.`)
      return undefined
    case 'not-found':
      // Nothing is wrong, and nobody has to act.
      return undefined
    case 'not-supported':
      return fragment`The action cannot cancel runs of test suites.`
    case 'failed':
      return fragment`The post step could not cancel it, because ${failureSentences(result.failure)}`
  }
}
