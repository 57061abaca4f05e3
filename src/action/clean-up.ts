import type { MainFile, MainRecord } from '../handover/main-file.ts'
import { failureText } from '../report/failure-text.ts'
import { CANCEL_IT, RUN_WITHOUT_ID } from '../report/words.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { cancelRun } from './cancel-run.ts'
import type { RunWorld } from './world.ts'

/** Short, because the job ends only after post. */
const POST_LIMIT_MS = 60_000
/** A main that lives answers within a quarter of a second, unless it is blocked. */
const ANSWER_LIMIT_MS = 2_000
/** Longer, because only main can receive the id of a start in flight. */
const ANSWER_LIMIT_WHILE_STARTING_MS = 5_000
const READ_INTERVAL_MS = 100
/** Main exits within 9.5 s. */
const POST_WAITS_FOR_MAIN_MS = 12_000

interface PostWorld extends Omit<RunWorld, 'service'> {
  readonly open: () => Promise<RunWorld['service']>
  /** Whether the inputs still name the service and the target to which the file belongs. */
  readonly hasSameInputs: (file: MainFile) => boolean
  /** Whether the run may be so new that a 404 is not final. False only if this step's `run-id` names the run. */
  readonly mayBeNew: boolean
}

/** Stops each main that still lives, and does what its file says is left to do. A cancel that fails is a warning. */
export async function cleanUpAfterMain(files: readonly MainFile[], world: PostWorld): Promise<void> {
  const { log, clock } = world
  const deadlineMs = clock.now() + POST_LIMIT_MS
  const cleanUpOne = async (file: MainFile) => {
    try {
      if (file.isOfAnotherUser()) return warnOfUnknown(fragment`the file ${file.path} belongs to another user`, log)
      await stopMain(file, world)
      const taken = file.take()
      if (taken === undefined) return
      const { record, problem } = taken
      if (problem !== undefined)
        log.warning(
          fragment`The post step could not remove its file ${file.path}, so this file stays: ${problem}. It contains no secret.`,
        )
      if (record.phase === 'unknown')
        return warnOfUnknown(fragment`the end of the file ${file.path} has no whole record`, log)
      await doWhatIsLeft(record, world.hasSameInputs(file), deadlineMs, world)
    } catch (cause) {
      warnOfUnknown(fragment`the work with the file ${file.path} failed: ${messageOf(cause)}`, log)
    }
  }
  await Promise.all(files.map(cleanUpOne))
}

function warnOfUnknown(why: Fragment, log: RunWorld['log']): void {
  log.warning(
    fragment`The post step cannot know whether the step has left a run, because ${why}. If the step has started a run, that run may still be running. ${CANCEL_IT}`,
  )
}

/**
 * If main may still live, asks it to stop, and waits until it has ended. Main cancels its run itself. Returns early if main
 * does not answer, because main is then dead or blocked.
 */
async function stopMain(file: MainFile, { log, clock, signal }: PostWorld): Promise<void> {
  const first = file.read()
  log.debug?.(fragment`Post found ${file.path}: ${JSON.stringify(first)}`)
  if (first === undefined || first.hasEnded || !file.askToStop()) return
  const askedMs = clock.now()
  let hasAnswered = false
  for (;;) {
    if (!hasAnswered && file.isStopAnswered()) {
      hasAnswered = true
      log.info(
        fragment`The step's process is still running. It has up to ${durationText(POST_WAITS_FOR_MAIN_MS)} to exit.`,
      )
    }
    const record = file.read()
    // Main has ended, so nobody reads the request any more.
    if (record === undefined || record.hasEnded) return file.withdrawStop()
    const answerLimitMs = record.phase === 'starting' ? ANSWER_LIMIT_WHILE_STARTING_MS : ANSWER_LIMIT_MS
    const limitMs = hasAnswered ? POST_WAITS_FOR_MAIN_MS : answerLimitMs
    if (signal.aborted || clock.now() - askedMs >= limitMs) return
    await clock.sleep(READ_INTERVAL_MS, signal)
  }
}

async function doWhatIsLeft(
  record: MainRecord,
  hasSameInputs: boolean,
  deadlineMs: number,
  world: PostWorld,
): Promise<void> {
  const { log } = world
  if (record.phase === 'starting')
    log.warning(
      fragment`The step may have sent a start request, but it saved no run id for the post step. ${RUN_WITHOUT_ID}`,
    )
  if (record.phase !== 'started' || !record.mayCancel) return
  const { runId } = record
  const warn = (reason: Fragment) => log.warning(fragment`Run ${runId} may still be running. ${reason} ${CANCEL_IT}`)
  if (hasSameInputs) await cancelAndLog(runId, deadlineMs, warn, world)
  else
    warn(
      fragment`The post step cannot cancel the run, because base-url, project or test-suite has another value now. Perhaps a later step changed a variable that the input uses.`,
    )
}

async function cancelAndLog(
  runId: string,
  deadlineMs: number,
  warn: (reason: Fragment) => void,
  { open, mayBeNew, ...world }: PostWorld,
): Promise<void> {
  const { log, clock } = world
  try {
    const service = await open()
    // Main may have started the run just before it was killed, so post counts the 15 s of `doesNotExist` from now.
    const startedMs = mayBeNew ? clock.now() : undefined
    const result = await cancelRun({ id: runId, startedMs }, { deadlineMs }, { ...world, service })
    switch (result.kind) {
      case 'cancelled':
        return log.info(fragment`Run ${runId} was cancelled.`)
      case 'already-finished':
        return log.info(fragment`Run ${runId} had already finished.`)
      case 'not-found':
        // The run does not exist any more, so nothing is left to say.
        return
      case 'failed':
        return warn(failureText(result.failure, 'cancel'))
      case 'not-supported':
        return warn(fragment`The action cannot cancel runs of test suites.`)
    }
  } catch (cause) {
    // Messages of invalid inputs end with a full stop, and other messages do not.
    warn(fragment`${messageOf(cause).replace(/\.$/, '')}.`)
  }
}
