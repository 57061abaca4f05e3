import { junit } from '../../src/frameworks/junit.ts'
import { type JunitReports, readJunitReports } from '../../src/frameworks/junit-reports.ts'
import type { ResultReader } from '../../src/frameworks/reading.ts'
import type { Report } from '../../src/frameworks/report.ts'
import { isUnusable } from '../../src/frameworks/unusable.ts'
import type { TestedFolders } from '../../src/machine/files.ts'

/** Reads in this thread, because a thread of its own takes longer than most of these tests. */
function createThread() {
  const read = (_: string, input: JunitReports) => readJunitReports(input)
  return { read, createLimit: () => ({}) } as unknown as ResultReader
}

/** Begins a run of a command that writes these reports. What is returned reads them when the command has ended. */
export async function beginJunitRun(report: string, folders: TestedFolders) {
  const selection = { frameworkProjects: [], files: [] }
  const options = {
    folders,
    isInPlace: true,
    outputFolder: '',
    reporterFolder: '',
    report,
    git: { folder: folders.root, env: process.env },
    args: [],
    installed: undefined,
    blobs: undefined,
  }
  const call = await junit.prepareCall({ ...options, command: ['test'], selection })
  return async (code: number, output = ''): Promise<Report | undefined> => {
    const report = await call.readJunitFiles?.({ kind: 'exited', code, output }, createThread())
    return isUnusable(report) ? undefined : report
  }
}
