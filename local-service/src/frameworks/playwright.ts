import { realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readRegularFile } from '../machine/files.ts'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import type { Framework } from './framework.ts'
import { mergePlaywright } from './merge.ts'
import { whyRefused } from './refused-arguments.ts'

/** The file is TypeScript here and JavaScript in the bundle. Playwright loads both. */
const REPORTER = join(REPORTERS_FOLDER, `playwright-reporter${extname(import.meta.filename)}`)

/**
 * Playwright adds the reporter in this variable to those of the project. Its documentation does not mention the variable, but only
 * new versions have the option `--add-reporter`.
 */
const FURTHER_REPORTER = 'PW_TEST_REPORTER'
/** The files of Playwright that read the variable: the first in 1.58 and older, the second in 1.65. */
const READERS = ['lib/runner/reporters.js', 'lib/runner/index.js']

/** Whether the installed Playwright reads the variable. */
export function knowsVariable(script: string): boolean {
  try {
    const folder = dirname(findPackageJSON('playwright', pathToFileURL(realpathSync(script))) ?? '')
    return READERS.some((file) =>
      readRegularFile(join(folder, file), { acceptsAnyOwner: true }).includes(FURTHER_REPORTER),
    )
  } catch {
    return false
  }
}

/** The second and later ones are for component tests. */
const PACKAGES = [
  '@playwright/test',
  ...['react', 'react17', 'solid', 'svelte', 'vue', 'vue2'].map((name) => `@playwright/experimental-ct-${name}`),
]
/** Also with a name of one's own, such as `playwright.e2e.config.ts`. */
const CONFIG_FILE = /^playwright\b.*\bconfig\b.*\.[cm]?[jt]s$/

export const playwright: Framework = {
  name: 'playwright',
  packages: PACKAGES,
  oldestVersion: '1.45',
  noTestsArgument: '--pass-with-no-tests',
  isUsedIn: ({ files, dependencies }) =>
    PACKAGES.some((name) => dependencies.has(name)) || files.some((file) => CONFIG_FILE.test(file)),
  hasProjects: true,
  refuse: (settings) => whyRefused('playwright', settings),
  async run(argv, options) {
    const { isInPlace, outputFolder, env, command, merge } = options
    // A `command` may start Playwright in any way, so there is no package to look into.
    const isAddedByVariable = command !== undefined || knowsVariable(argv[1] ?? '')
    const { args, ...call } =
      merge === undefined
        ? // A forgotten `test.only` would leave all other tests out, and the run would pass. Vitest refuses it by itself.
          { args: ['test', '--forbid-only'], title: 'playwright' }
        : await mergePlaywright(merge, options)
    const byArgument = merge === undefined ? `--add-reporter=${REPORTER}` : `--reporter=list,${REPORTER}`
    // Playwright empties its output folder, and by default all runs of a project share one folder.
    const ofRun = isInPlace ? [] : ['--reporter=list', `--output=${outputFolder}`]
    return {
      ...call,
      argv: [...argv, ...args, ...(isAddedByVariable ? [] : [byArgument]), ...ofRun],
      // Otherwise, the HTML reporter could open the report and wait for a person.
      env: { ...env, PLAYWRIGHT_HTML_OPEN: 'never', ...(isAddedByVariable && { [FURTHER_REPORTER]: REPORTER }) },
      replacesReporters: !isInPlace || (merge !== undefined && !isAddedByVariable),
    }
  },
}
