import { setFlagsFromString } from 'node:v8'
import { StepCancelled } from './action/abort.ts'
import { systemClock } from './clock.ts'
import type { AbortCause } from './outcome/step-outcome.ts'
import { commandMessage, logLine } from './text/safe-text.ts'

// What main and post have in common as processes: signals and the exit.

/** The one AbortSignal of a process, which aborts with a `StepCancelled` when the process is told to end. */
export function abortOnRunnerSignal(): { readonly signal: AbortSignal; readonly abort: (by: AbortCause) => void } {
  const controller = new AbortController()
  const abort = (by: AbortCause) => controller.abort(new StepCancelled(by, systemClock.now()))
  for (const name of ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] as const) process.on(name, () => abort(name))
  return { signal: controller.signal, abort }
}

/** Has the runner replace the key by `***` in every later line of the log. */
export function maskKey(env: NodeJS.ProcessEnv): void {
  const key = env['INPUT_API-KEY']?.trim() ?? ''
  if (key !== '') process.stdout.write(`::add-mask::${escapeCommand(key)}\n`)
}

/** As the runner decodes the text of a command. */
function escapeCommand(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Looks once a second, whatever the process waits for, until the condition holds. */
export function watch(condition: () => boolean, then: () => void): void {
  const timer = setInterval(() => {
    if (!condition()) return
    clearInterval(timer)
    then()
  }, 1_000).unref()
}

/**
 * undici's parser is WebAssembly: after two responses V8 would compile it once more in the background, and the process
 * would not exit before that is done, which takes 41 ms (bench/README.md). The budget is how much must run before.
 *
 * Call this after the first request is sent, because V8 then no longer uses the compiled code of Node's own modules.
 */
export function keepParserAsCompiled(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000')
}

/**
 * Runs the task and exits with the code that it returns. Whatever it throws, now or later, becomes an error command (a
 * non-zero exit without one fails the step without a word); with `command` 'warning', a warning and exit code 0.
 *
 * @param onLogClosed called when nobody reads the log any more: the worker is dead
 */
export async function exitAfter(
  task: () => Promise<number>,
  onLogClosed: () => void,
  command: 'error' | 'warning' = 'error',
): Promise<never> {
  const fail = (cause: unknown) => {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    const message = logLine`The action failed unexpectedly. This is a bug in the action; please report it with this line. ${reason}`
    process.stdout.write(`::${command}::${escapeCommand(commandMessage(message))}\n`)
    return command === 'warning' ? 0 : 1
  }
  // Node's own warnings, such as the one of a proxy given by its IP address, do not help the person who reads the log.
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

/** Open connections and timers would keep the process alive; only the log must have gone out. */
function flushAndExit(code: number): Promise<never> {
  setTimeout(() => process.exit(code), 500)
  process.stdout.write('', () => process.exit(code))
  return new Promise(() => {})
}
