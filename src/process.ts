import { abortReason, StepAborted } from './action/abort.ts'
import { systemClock } from './clock.ts'
import { variableOf } from './input-variable.ts'
import type { AbortCause } from './model/outcome.ts'
import { commandMessage, fragment } from './text/safe-text.ts'

// Main and post as processes: the signals, the mask of the key, and the exit.

/** The first `abort` sets the signal's reason, a `StepAborted`. A later `abort` changes nothing. */
export function abortOnSignals(): { readonly signal: AbortSignal; readonly abort: (cause: AbortCause) => void } {
  const controller = new AbortController()
  const abort = (cause: AbortCause) => controller.abort(new StepAborted(cause, systemClock.now()))
  // On Windows, the first signal of GitHub's runner arrives as SIGINT, and the second as SIGBREAK.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] as const)
    process.on(name, () => abort('system signal'))
  return { signal: controller.signal, abort }
}

/** Tells the runner to replace the key by `***` in every later line of the log. */
export function maskKey(env: NodeJS.ProcessEnv): void {
  const key = env[variableOf(env, 'api-key')]?.trim() ?? ''
  if (key !== '') writeCommand('add-mask', key)
}

/** The runner unescapes `%`, CR and LF in a command. `@actions/core` is not loaded here. */
function writeCommand(name: string, data: string): void {
  process.stdout.write(`::${name}::${data.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}\n`)
}

interface ExitOptions {
  /** If it aborts, its `StepAborted` limits how long the log may take. */
  readonly signal: AbortSignal
  /** How the log shows a crash. After a crash that is only a warning, the exit code is 0. */
  readonly crashLevel: 'error' | 'warning'
  /** Called if a write to stdout fails. Stdout is the log. */
  readonly onLogClosed?: () => void
}

/** Runs the task and exits with the code that it returns. If anything throws, now or later, the log says so. */
export async function exitAfter(
  task: () => Promise<number>,
  { signal, crashLevel, onLogClosed = () => {} }: ExitOptions,
): Promise<never> {
  const exitAfterCrash = (cause: unknown) => {
    const reason = (cause instanceof Error && cause.stack) || String(cause)
    const message = fragment`The action failed unexpectedly. This is a bug in the action; please report it with this line. ${reason}`
    writeCommand(crashLevel, commandMessage(message))
    return flushAndExit(crashLevel === 'warning' ? 0 : 1, signal)
  }
  // Node's own warnings, for example about a proxy's IP address, do not help the person who reads the log.
  process.removeAllListeners('warning')
  process.stdout.on('error', onLogClosed)
  process.stderr.on('error', () => {})
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, exitAfterCrash)
  return task().then((code) => flushAndExit(code, signal), exitAfterCrash)
}

/** Up to 16 MiB of output may stand in the queue ahead of the verdict. The runner reads them in far less time than this. */
const FLUSH_LIMIT_MS = 30_000
/** If main ends shortly before the exit deadline, or after it, the last line of the log still gets this long. */
const LAST_LINE_MS = 150

/**
 * Exits at the first of these three times: the log is written, `FLUSH_LIMIT_MS` has passed, or the exit deadline of an abort has passed.
 * Open connections and timers do not delay the exit.
 */
function flushAndExit(code: number, signal: AbortSignal): Promise<never> {
  const exit = () => process.exit(code)
  const exitWhenAborted = () => {
    const leftMs = abortReason(signal).exitDeadlineMs - systemClock.now()
    setTimeout(exit, Math.max(leftMs, LAST_LINE_MS))
  }
  setTimeout(exit, FLUSH_LIMIT_MS)
  if (signal.aborted) exitWhenAborted()
  else signal.addEventListener('abort', exitWhenAborted)
  // Node calls the callback of a write when all earlier writes are done.
  process.stdout.write('', exit)
  return new Promise(() => {})
}
