import { extname, join } from 'node:path'
import { type Framework, isObject, objectsIn, REPORTERS_FOLDER, stringOf } from './framework.ts'
import { REPORT_FILE } from './report-writer.ts'

/** The file is TypeScript here and JavaScript in the package. Playwright loads both. */
const REPORTER = join(REPORTERS_FOLDER, `playwright-reporter${extname(import.meta.filename)}`)

export const playwright: Framework = {
  name: 'playwright',
  packageName: '@playwright/test',
  oldestVersion: '1.45',
  configFile: /^playwright(-ct)?\.config\.\w+$/,
  titleOption: '--grep',
  skipsOtherTitles: false,
  // Its output goes to the log. Playwright empties its output folder, and by default all runs of a project share one folder.
  run: ({ reportFile, outputFolder }) => ({
    args: ['test', `--reporter=dot,${REPORTER}`, `--output=${outputFolder}`],
    env: { [REPORT_FILE]: reportFile },
  }),
  list: ({ reportFile }) => ({
    args: ['test', '--list', '--reporter=json'],
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile },
  }),
  readList: (list) =>
    isObject(list) && isObject(list.config)
      ? objectsIn(list.config.projects).map(({ name }) => stringOf(name))
      : undefined,
  /** Playwright says it in each test that needs the missing browser. */
  findMissing({ testCases }) {
    const isMissing = testCases.some(
      ({ message = '' }) => message.includes("Executable doesn't exist at") && message.includes('playwright install'),
    )
    return isMissing ? 'playwright has not installed the browser: run "npx playwright install"' : undefined
  },
}
