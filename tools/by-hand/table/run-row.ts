import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Result, runBoth, withTemporaryFolder } from '../run.ts'
import { writeProject } from './project.ts'
import type { Row } from './rows.ts'

/** By hand, a command with some arguments never ends. All others take a few seconds. */
const LIMIT_MS = 60_000

/** Runs a row by hand and through the service. Every run has a new folder, so that none sees what an earlier one has changed. */
export function runRow({ project, args, version }: Row, stop: AbortSignal): Promise<Result> {
  return withTemporaryFolder((temporaryFolder) => {
    let count = 0
    const folder = () => {
      const at = join(realpathSync(temporaryFolder), `run-${++count}`, 'project')
      mkdirSync(at, { recursive: true })
      writeProject(project, at, version)
      return at
    }
    // Without other reporters, the run that writes the report is the run of the plain command.
    const namesReporter = /reporter|outputFile/i.test(JSON.stringify([project.files, args]))
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...project.env }
    return runBoth({ framework: project.framework, args, env, folder, limitMs: LIMIT_MS, isOnce: !namesReporter }, stop)
  })
}
