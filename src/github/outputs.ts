import { debug, error, setSecret, warning } from '@actions/core'
import type { Conclusion } from '../model/outcome.ts'
import type { Fragment, Html, Log } from '../text/safe-text.ts'
import { commandMessage, commandProperty, fragment, render } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { append, appendEntry } from './runner-file.ts'

/** When the summary or the comment is written. With `on-failure`, only if the step fails. */
export type When = 'always' | 'on-failure' | 'never'

export interface Annotation {
  readonly level: 'error' | 'warning'
  /** Only constant words, because the runner masks no secrets in titles. */
  readonly title: string
  readonly message: Fragment
  /** Where GitHub shows the annotation in the files of a pull request. */
  readonly file?: Untrusted | undefined
  readonly line?: number | undefined
}

/** Main sets each output as soon as its value is known. No output contains free text of the service. */
export interface Outputs
  extends Record<'run-id' | 'run-url' | 'job-url' | 'status' | 'report-dir' | 'comment-url', string>,
    Record<'total' | 'passed' | 'failed' | 'flaky' | 'skipped' | 'other', number>,
    Record<'new-failures' | 'added' | 'removed' | 'newly-skipped' | 'duration-ms', number> {
  conclusion: Conclusion
}

/** What leaves the process over the log and over the runner's command files. */
export function runnerOutput(env: NodeJS.ProcessEnv, isRead = () => true) {
  const log: Log = {
    // Bytes, because the runner may read slowly. A string that waits for the runner takes up to twice the memory.
    info: (message) => void process.stdout.write(Buffer.from(`${render(message)}\n`)),
    warning: (message) => warning(commandMessage(message)),
    debug: env.RUNNER_DEBUG === '1' ? (message) => debug(commandMessage(message)) : undefined,
  }
  let hasWarned = false
  /** If the task fails, the step goes on, because the step may still have to cancel its run. */
  function warnOnError(task: () => void): void {
    if (!isRead()) return
    try {
      task()
    } catch (cause) {
      if (!hasWarned)
        log.warning(
          fragment`Outputs or the job summary could not be written to the runner's command files: ${String(cause)}`,
        )
      hasWarned = true
    }
  }
  return {
    log,
    annotate({ level, title, message, file, line }: Annotation): void {
      const write = level === 'error' ? error : warning
      // `@actions/core` leaves out what is empty or 0.
      const path = file === undefined ? '' : commandProperty(file)
      write(commandMessage(message), { title, file: path, startLine: line ?? 0 })
    },
    mask: setSecret,
    setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]): void {
      warnOnError(() => appendEntry(env.GITHUB_OUTPUT, name, String(value)))
    },
    writeSummary(build: (alreadyBytes: number) => Html): void {
      const path = env.GITHUB_STEP_SUMMARY
      if (path) warnOnError(() => append(path, (alreadyBytes) => render(build(alreadyBytes))))
    },
  }
}
