import { logLine, render } from './report/safe-text.ts'

/**
 * Does the task and ends the process with its exit code. Whatever it throws, now or later, becomes an error command
 * (a non-zero exit without one fails the step without a word), or a warning where `neverFail` holds.
 */
export async function endProcess(task: () => Promise<number>, neverFail = false): Promise<never> {
  const fail = (cause: unknown) => {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    const command = neverFail ? 'warning' : 'error'
    const message = logLine`The action failed unexpectedly. This is a fault of the action; please report it with this line. ${reason}`
    process.stdout.write(`::${command}::${render(message).replaceAll('%', '%25')}\n`)
    return neverFail ? 0 : 1
  }
  // The reader of the log may be gone; that must not end the action.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (cause) => exit(fail(cause)))
  }
  let code: number
  try {
    code = await task()
  } catch (cause) {
    code = fail(cause)
  }
  return exit(code)
}

/** Open connections and timers would hold the process up; only the log must have gone out. */
function exit(code: number): Promise<never> {
  process.exitCode = code
  setTimeout(() => process.exit(), 500)
  process.stdout.write('', () => process.exit())
  return new Promise(() => {})
}
