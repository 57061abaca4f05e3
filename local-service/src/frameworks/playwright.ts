import { realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readRegularFile } from '../machine/files.ts'
import { REPORTERS_FOLDER } from '../reporters/folder.ts'
import type { Framework } from './framework.ts'
import { mergePlaywright, whyMergeRefused } from './merge.ts'
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

/** Whether the installed Playwright reads the variable. If the project has a `command`, there is no package to look into, and it should. */
export function knowsVariable(script: string | undefined): boolean {
  if (script === undefined) return true
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
  refuse: (settings) => whyRefused('playwright', settings) ?? whyMergeRefused('playwright', settings),
  async run({ argv, script }, options) {
    const { isInPlace, outputFolder, env: forReporter } = options
    const isAddedByVariable = knowsVariable(script)
    // Otherwise, the HTML reporter could open the report and wait for a person.
    const env = {
      ...forReporter,
      PLAYWRIGHT_HTML_OPEN: 'never',
      ...(isAddedByVariable && { [FURTHER_REPORTER]: REPORTER }),
    }
    const merge = await mergePlaywright(options)
    if (merge !== undefined) {
      const { args, ...call } = merge
      const ours = isAddedByVariable ? [] : [`--reporter=list,${REPORTER}`]
      return { ...call, argv: [...argv, ...args, ...ours], env, replacesReporters: !isAddedByVariable }
    }
    const ours = isAddedByVariable ? [] : [`--add-reporter=${REPORTER}`]
    // A forgotten `test.only` would leave all other tests out, and the run would pass. Vitest refuses it by itself.
    const test = [...argv, 'test', '--forbid-only', ...ours]
    if (isInPlace) return { argv: test, env }
    // Playwright empties its output folder, and by default all runs of a project share one folder.
    const ownReporter = ['--reporter=list', `--output=${outputFolder}`]
    return { argv: [...test, ...ownReporter], env, replacesReporters: true }
  },
}
