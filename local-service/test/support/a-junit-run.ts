import { junit } from '../../src/frameworks/junit.ts'
import type { TestedFolders } from '../../src/machine/files.ts'

/** Begins a run of a command that writes these reports. What is returned reads them when the command has ended. */
export async function beginJunitRun(report: string, folders: TestedFolders) {
  const start = { kind: 'command', command: ['test'] } as const
  const selection = { frameworkProjects: [], files: [] }
  const options = { folders, outputFolder: '', inputFolder: '', report, env: {}, args: [], isInPlace: true }
  const { readReport } = await junit.run({ ...options, start, selection })
  return async (code: number, output = '') => readReport?.({ kind: 'exited', code, output })
}
