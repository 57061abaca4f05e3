import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { commandLine, EXTENSION, type Framework } from './framework.ts'
import { mergePlaywright } from './merge.ts'
import { whyRefused, wordsBehind } from './refused-settings.ts'

const REPORTER = `playwright-reporter${EXTENSION}`

/**
 * Playwright translates each file that is not below `node_modules`. For those of the reporter, this would take 0.15 s. Directly in
 * `node_modules`, Node would not read the package.json.
 */
async function reporterIn(inputFolder: string): Promise<string> {
  if (REPORTER.endsWith('.ts')) return join(REPORTERS_FOLDER, REPORTER)
  const folder = join(inputFolder, 'node_modules/local-service')
  await mkdir(folder, { recursive: true })
  const files = [REPORTER, 'report-writer.js', 'package.json']
  await Promise.all(files.map((file) => copyFile(join(REPORTERS_FOLDER, file), join(folder, file))))
  return join(folder, REPORTER)
}

export const playwright: Framework = {
  name: 'playwright',
  title: 'Playwright Test',
  // The second and later ones are for component tests.
  packages: [
    '@playwright/test',
    ...['react', 'react17', 'solid', 'svelte', 'vue', 'vue2'].map((name) => `@playwright/experimental-ct-${name}`),
  ],
  oldestVersion: '1.45',
  noTestsArgument: '--pass-with-no-tests',
  // Also with a name of one's own, such as `playwright.e2e.config.ts`.
  configFile: /^playwright\b.*\bconfig\b.*\.[cm]?[jt]s$/,
  refuse: (settings, folder) => whyRefused('playwright', settings, folder),
  async run(options) {
    const { start, isInPlace, outputFolder, inputFolder, env, merge } = options
    const isNamed = start.kind === 'command' && wordsBehind('playwright', start.command)[0] === 'test'
    const begun =
      merge === undefined
        ? // A forgotten `test.only` would leave all other tests out, and the run would pass. Vitest refuses it by itself.
          { ours: [...(isNamed ? [] : ['test']), '--forbid-only'], title: 'playwright', env }
        : await mergePlaywright(merge, options)
    if ('kind' in begun) return begun
    const { ours, ...call } = begun
    // Playwright empties its output folder, and by default all runs of a project share one folder.
    const outputArguments = isInPlace ? [] : ['--reporter=list', `--output=${outputFolder}`]
    return {
      ...call,
      argv: commandLine(options, [...ours, ...outputArguments]),
      // Otherwise, the HTML reporter could open the report and wait for a person. The second variable, of which Playwright's
      // documentation says nothing, adds a reporter to those of the project.
      env: { ...call.env, PLAYWRIGHT_HTML_OPEN: 'never', PW_TEST_REPORTER: await reporterIn(inputFolder) },
      replacesReporters: !isInPlace,
    }
  },
}
