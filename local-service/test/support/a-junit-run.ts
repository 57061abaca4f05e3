import { junit } from '../../src/frameworks/junit.ts'
import type { TestedFolders } from '../../src/machine/files.ts'

/** Begins a run of a command that writes these reports. What is returned reads them when the command has ended. */
export async function beginJunitRun(report: string, folders: TestedFolders) {
  const command = ['test']
  const paths = { outputFolder: '', inputFolder: '' }
  const options = { ...paths, folders, report, command, env: {}, args: [], isInPlace: true }
  const { readReport } = await junit.run(command, options)
  return async (code: number, output = '') => readReport?.({ kind: 'exited', code, output })
}
