import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { error, info, setOutput, warning } from '@actions/core'
import type { Outputs, World } from '../action/world.ts'
import type { Annotation } from '../report/annotations.ts'
import { line, textOf } from '../report/inert.ts'
import { sizeOnWindows } from '../report/size-on-windows.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The effects that leave the step through the runner: the log, annotations, outputs and the job summary. */
export interface RunnerOutput extends Pick<World, 'log' | 'annotate' | 'setOutput' | 'writeSummary'> {
  /**
   * Does what needs the runner's files. Where they cannot be written, one warning says so and the step goes on: it must
   * not leave a run behind because an output is lost.
   */
  attempt(deed: () => void): void
}

export function runnerOutput(env: Environment): RunnerOutput {
  const log: World['log'] = {
    info: (message) => info(textOf(message)),
    warning: (message) => warning(textOf(message)),
  }
  let hasWarned = false
  const attempt: RunnerOutput['attempt'] = (deed) => {
    try {
      deed()
    } catch (cause) {
      if (!hasWarned) log.warning(line`The runner's files cannot be written: ${String(cause)}`)
      hasWarned = true
    }
  }
  return {
    log,
    attempt,
    annotate({ level, title, message }: Annotation) {
      const write = level === 'error' ? error : warning
      write(textOf(message), { title })
    },
    setOutput<Name extends keyof Outputs>(name: Name, value: Outputs[Name]) {
      attempt(() => setOutput(name, value))
    },
    writeSummary(render) {
      const path = env.GITHUB_STEP_SUMMARY
      if (!path) return
      try {
        // One append: whatever was written before a kill counts.
        appendFileSync(path, textOf(render(existsSync(path) ? sizeOnWindows(readFileSync(path)) : 0)))
      } catch (cause) {
        log.warning(line`The job summary could not be written: ${String(cause)}`)
      }
    },
  }
}
