import { extname, join } from 'node:path'
import { type Framework, objectsIn, REPORTERS_FOLDER, stringOf } from './framework.ts'
import { REPORT_FILE } from './report-writer.ts'

/** The file is TypeScript here and JavaScript in the package. Vitest loads both. */
const REPORTER = join(REPORTERS_FOLDER, `vitest-reporter${extname(import.meta.filename)}`)

export const vitest: Framework = {
  name: 'vitest',
  packageName: 'vitest',
  oldestVersion: '3.0',
  configFile: /^vitest\.(config|workspace)\.\w+$/,
  titleOption: '--testNamePattern',
  skipsOtherTitles: true,
  // Its output goes to the log.
  run: ({ reportFile }) => ({
    args: ['run', '--reporter=default', `--reporter=${REPORTER}`],
    env: { [REPORT_FILE]: reportFile },
  }),
  list: ({ reportFile }) => ({ args: ['list', '--filesOnly', `--json=${reportFile}`], env: {} }),
  readList(list) {
    if (!Array.isArray(list)) return undefined
    return [...new Set(objectsIn(list).map(({ projectName }) => stringOf(projectName)))].filter((name) => name !== '')
  },
}
