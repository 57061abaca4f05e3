import { join } from 'node:path'
import { toReport } from '../../src/frameworks/report.ts'
import { readEvents, readProgress } from '../../src/frameworks/report-reader.ts'
import { REPORT_FILE, REPORT_ROOT } from '../../src/reporters/report-writer.ts'
import { temporaryFolder } from './a-local-service.ts'

/** Where the next reporter writes, for a repository in this folder. Returns what reads it as the service does. */
export function prepareReport(root = '/shop', variables: Readonly<Record<string, string>> = {}, folder = root) {
  const file = join(temporaryFolder(), 'report')
  Object.assign(process.env, { [REPORT_FILE]: file, [REPORT_ROOT]: root, ...variables })
  const read = () => toReport(readEvents(file), { root, folder })
  return { file, read, progress: () => readProgress(file) }
}
