import { setFlagsFromString } from 'node:v8'
import { StepCancelled } from './action/abort.ts'
import { systemClock } from './clock.ts'
import type { AbortCause } from './outcome/step-outcome.ts'
import { commandMessage, logLine } from './text/safe-text.ts'

// What main and post share as processes: the signals, the mask of the key, and the exit.

/**
 * The AbortSignal of this process. The first `abort` sets its reason, a `StepCancelled`. A later one changes nothing.
 */
export function abortOnRunnerSignal(): { readonly signal: AbortSignal; readonly abort: (by: AbortCause) => void } {
  const controller = new AbortController()
  const abort = (by: AbortCause) => controller.abort(new StepCancelled(by, systemClock.now()))
  for (const name of ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] as const) process.on(name, () => abort(name))
  return { signal: controller.signal, abort }
}

/** Tells the runner to replace the key by `***` in every later line of the log. */
export function maskKey(env: NodeJS.ProcessEnv): void {
  const key = env['INPUT_API-KEY']?.trim() ?? ''
  if (key !== '') process.stdout.write(`::add-mask::${escapeCommand(key)}\n`)
}

/** Escapes `%`, CR and LF, because the runner unescapes them in a command. */
function escapeCommand(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Checks the condition once a second until it holds. The timer does not keep the process alive. */
export function watch(condition: () => boolean, then: () => void): void {
  const timer = setInterval(() => {
    if (!condition()) return
    clearInterval(timer)
    then()
  }, 1_000).unref()
}

/**
 * Keeps V8 from compiling undici's WebAssembly parser a second time, because the exit would wait for that. Call it
 * after the first request is sent: a changed flag makes V8 discard the compiled code of Node's own modules.
 */
export function keepParserAsCompiled(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000')
}

/**
 * Runs the task and exits with the code that it returns. If anything throws, now or later, a command tells the user,
 * because an exit code alone gives no reason. With `warning`, a crash exits with 0.
 */
export async function exitAfter(
  task: () => Promise<number>,
  /** Called if nobody reads the log any more, because the runner's worker is dead. */
  onLogClosed: () => void,
  command: 'error' | 'warning' = 'error',
): Promise<never> {
  const fail = (cause: unknown) => {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    const message = logLine`The action failed unexpectedly. This is a bug in the action; please report it with this line. ${reason}`
    process.stdout.write(`::${command}::${escapeCommand(commandMessage(message))}\n`)
    return command === 'warning' ? 0 : 1
  }
  // Node's own warnings, for example about a proxy's IP address, do not help the person who reads the log.
  process.removeAllListeners('warning')
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onLogClosed)
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (cause) => flushAndExit(fail(cause)))
  }
  let code: number
  try {
    code = await task()
  } catch (cause) {
    code = fail(cause)
  }
  return flushAndExit(code)
}

/** Exits once the log is written, or after half a second. Open connections and timers do not delay the exit. */
function flushAndExit(code: number): Promise<never> {
  setTimeout(() => process.exit(code), 500)
  process.stdout.write('', () => process.exit(code))
  return new Promise(() => {})
}
